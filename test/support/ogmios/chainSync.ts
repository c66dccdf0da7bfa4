/**
 * Chain synchronisation of one connection: a cursor, and the requests that wait for a block. They
 * may be sent ahead; answers come in their order.
 */
import type { ChainReader, FakeBlock, FakeChain, FakePoint, Step } from './chain.ts';
import type { BlockFault, Faults } from './faults.ts';
import { type JsonValue, jsonText } from './json.ts';
import { type Answer, CODES, type Request, resultText } from './rpc.ts';

/** As many requests as a client may have open. */
const MOST_IN_FLIGHT = 100_000;

export function tipOf(tip: FakeBlock | null): JsonValue {
  return tip === null ? 'origin' : { slot: tip.slot, id: tip.id, height: tip.height };
}

/** A fault changes what is sent in the end. */
export type Send = (text: string, fault?: BlockFault | null) => void;

export class ChainSync {
  readonly #chain: FakeChain;
  readonly #faults: Faults;
  readonly #send: Send;
  readonly #cut: (text: string) => void;
  readonly #reader: ChainReader;
  readonly #asked: Request[] = [];

  constructor(chain: FakeChain, faults: Faults, send: Send, cut: (text: string) => void) {
    this.#chain = chain;
    this.#faults = faults;
    this.#send = send;
    this.#cut = cut;
    this.#reader = chain.reader();
  }

  end(): void {
    this.#chain.forget(this.#reader);
    this.#asked.length = 0;
  }

  findIntersection({ params }: Request): Answer {
    if (this.#asked.length > 0) {
      const message = "'findIntersection' requests cannot be interleaved with 'nextBlock'.";
      return { error: { code: CODES.intersectionInterleaved, message } };
    }
    const points = readPoints(params.points);
    if (points === null) {
      const message = 'Invalid request: points are {slot, id} or "origin".';
      return { error: { code: CODES.invalidParams, message } };
    }
    const tip = tipOf(this.#chain.tip);
    for (const point of points) {
      const at = this.#chain.positionOf(point);
      if (at === undefined) continue;
      this.#reader.intersect(at);
      return { result: { intersection: point === 'origin' ? point : { ...point }, tip } };
    }
    const message = 'No intersection found.';
    return { error: { code: CODES.intersectionNotFound, message, data: { tip } } };
  }

  nextBlock(request: Request): void {
    if (this.#asked.length >= MOST_IN_FLIGHT) throw new Error('too many requests in flight');
    this.#asked.push(request);
    this.pump();
  }

  /** Answers what can be answered. */
  pump(): void {
    while (this.#asked.length > 0 && !this.#faults.stalls('nextBlock')) {
      const step = this.#reader.next();
      const request = step === null ? undefined : this.#asked.shift();
      if (step === null || request === undefined) return;
      this.#answer(request, step);
    }
  }

  #answer(request: Request, step: Step): void {
    const text = resultText(request, stepText(step, tipOf(this.#chain.tip)));
    const fault = step.direction === 'forward' ? this.#faults.takeOfBlock() : null;
    if (fault?.kind !== 'cut') {
      this.#send(text, fault);
      return;
    }
    this.#asked.length = 0;
    this.#cut(text);
  }
}

function stepText(step: Step, tip: JsonValue): string {
  const rest = `"tip":${jsonText(tip)}`;
  if (step.direction === 'forward') {
    return `{"direction":"forward",${rest},"block":${step.block.text}}`;
  }
  const { point } = step;
  const to = point === 'origin' ? point : { slot: point.slot, id: point.id };
  return `{"direction":"backward",${rest},"point":${jsonText(to)}}`;
}

/** Without points a client asks for the origin. */
export function readPoints(value: unknown): (FakePoint | 'origin')[] | null {
  if (value === undefined) return ['origin'];
  if (!Array.isArray(value)) return null;
  const points = value.map(readPoint);
  return points.every((point) => point !== null) ? points : null;
}

export function readPoint(value: unknown): FakePoint | 'origin' | null {
  if (value === 'origin') return value;
  if (typeof value !== 'object' || value === null) return null;
  const { slot, id } = value as Record<string, unknown>;
  if (typeof slot !== 'number' || typeof id !== 'string' || id.length !== 64) return null;
  return { slot, id };
}
