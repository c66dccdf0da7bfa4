import { Unreadable } from './json.ts';
import type { FaultCause } from './observer.ts';

/** Why a connection ended; it is made again. */
export class NodeFault extends Error {
  readonly fault: FaultCause;

  constructor(fault: FaultCause, message: string) {
    super(message);
    this.fault = fault;
  }

  /** Of what was thrown while a message was read, or by the socket. */
  static of(error: unknown, where = ''): NodeFault {
    if (error instanceof NodeFault) return error;
    const words = error instanceof Error ? error.message : String(error);
    if (/max payload size/i.test(words)) {
      return new NodeFault('oversized', `a message is larger than allowed: ${words}`);
    }
    if (error instanceof Unreadable) {
      const cause: FaultCause = words.startsWith('no JSON') ? 'garbage' : 'unreadable';
      return new NodeFault(cause, `${words}${where}`);
    }
    return new NodeFault('closed', `${words}${where}`);
  }
}

/** The node understood, and said no. */
export class NodeRefusal extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
