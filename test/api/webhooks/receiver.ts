/** The server of a program: it keeps every request, and answers as the test sets. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '../../support/until.ts';

interface ReceivedFrame {
  readonly requestId: string | number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly epoch: string;
  readonly seq: number;
  readonly prev: number | null;
  readonly snapshot?: true;
}

export interface Received {
  readonly id: string;
  /** Id of a delivery in Standard Webhooks. */
  readonly messageId: string;
  readonly position: string;
  readonly signature: string;
  readonly body: string;
  readonly frames: readonly ReceivedFrame[];
  readonly host: string;
}

type Behaviour = (response: ServerResponse, received: Received) => void;

export const accept: Behaviour = (response) => void response.writeHead(204).end();
export const answerWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end('no');

export class Receiver {
  /** Every request, whether it was accepted or not. */
  readonly all: Received[] = [];
  readonly accepted: Received[] = [];
  /** Requests that were not answered. */
  readonly held: ServerResponse[] = [];
  behaviour: Behaviour = accept;
  #atOnce = 0;
  mostAtOnce = 0;
  connections = 0;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async start(scope: { after(run: () => void): void }, host = '127.0.0.1') {
    const receiver = new Receiver();
    receiver.#server.on('connection', () => {
      receiver.connections += 1;
    });
    await new Promise<void>((listening) => receiver.#server.listen(0, host, listening));
    scope.after(() => {
      receiver.#server.close();
      receiver.#server.closeAllConnections();
    });
    return receiver;
  }

  get port(): number {
    // trust: it listens on a port
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  readonly hold: Behaviour = (response) => void this.held.push(response);

  /** Kept connections are cut, as a restart does. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async received(count: number): Promise<Received> {
    await until(
      () => `delivery ${count}, got ${this.all.length}`,
      () => this.all.length >= count,
    );
    return this.all[count - 1] ?? assert.fail();
  }

  /** Accepted frames without those that the client rule ignores. */
  framesOf(requestId: string | number): ReceivedFrame[] {
    return applied(
      this.accepted.flatMap(({ frames }) => frames),
      requestId,
    );
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    response.on('close', () => {
      this.#atOnce -= 1;
    });
    const body = await text(request);
    const header = (name: string) => String(request.headers[name] ?? '');
    const received = {
      id: header('upcurve-id'),
      messageId: header('webhook-id'),
      position: header('upcurve-position'),
      signature: header('upcurve-signature'),
      host: header('host'),
      body,
      // trust: each test checks the fields that it uses
      frames: JSON.parse(body) as ReceivedFrame[],
    };
    this.all.push(received);
    response.on('finish', () => {
      if (response.statusCode >= 200 && response.statusCode < 300) this.accepted.push(received);
    });
    this.behaviour(response, received);
  }
}

/** The rules that the guide gives a receiver. Fails where something is missing. */
export function applied(
  frames: readonly ReceivedFrame[],
  requestId: string | number,
): ReceivedFrame[] {
  const kept: ReceivedFrame[] = [];
  let at: { epoch: string; seq: number } | null = null;
  for (const frame of frames) {
    if (frame.requestId !== requestId) continue;
    const { epoch, seq, prev, event, snapshot } = frame;
    if (event === 'Subscribed') {
      if (frame.data?.recovered === false || at === null) at = { epoch, seq };
    } else if (snapshot === true) {
      at = { epoch, seq };
    } else {
      assert(at !== null && at.epoch === epoch, `a change before its beginning: ${seq}`);
      if (seq <= at.seq && kept.some((one) => one.seq === seq && one.epoch === epoch)) continue;
      assert(prev !== null && prev <= at.seq, `missing: ${prev} above ${at.seq}`);
      at = { epoch, seq };
    }
    kept.push(frame);
  }
  return kept;
}

export function isSigned({ signature, body }: Received, secret: string): boolean {
  const [, seconds = '', mac = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  return createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex') === mac;
}
