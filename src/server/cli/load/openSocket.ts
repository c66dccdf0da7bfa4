/** WebSockets of the package `ws`: they can stop reading, unlike the WebSockets of Node. */
import { WebSocket } from 'ws';
import type { Socket } from '../../../client/platform.ts';

export interface PausedSocket extends Socket {
  pause(): void;
  resume(): void;
}

export function openSocket(url: string, protocol: string): PausedSocket {
  // trust: it has these members; its handlers are given events that have the fields read here
  return new WebSocket(url, [protocol], { perMessageDeflate: false }) as WebSocket & PausedSocket;
}
