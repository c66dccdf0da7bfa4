/**
 * Chain synchronisation of one connection: a cursor, and the requests that wait for a block. A
 * client may send requests ahead; answers come in their order. Nothing is queued for a slow client:
 * an answer is made when the socket has room for it.
 */
import { integerIn, type JsonValue, jsonText } from '../../engine/runtime/exactJson.ts';
import { type Answer, CODES, invalidParams, type Request, resultText } from './rpc.ts';
import type { ServedBlock, ServedChain, ServedPoint, ServedTip } from './served.ts';
import type { Transport } from './session.ts';

/** As of Ogmios' `--max-in-flight`. */
const MAX_IN_FLIGHT = 1_000;

type Step =
  | { readonly direction: 'backward'; readonly point: ServedPoint | 'origin' }
  | { readonly direction: 'forward'; readonly block: ServedBlock };

function tipJson(tip: ServedTip | null): JsonValue {
  return tip === null ? 'origin' : { slot: tip.slot, id: tip.id, height: tip.height };
}

export class ChainSync {
  readonly #chain: ServedChain;
  readonly #transport: Transport;
  readonly #requests: Request[] = [];
  /** Place of the block that was sent last; 0 is the origin. */
  #place = 0;
  #mustGoBack = true;

  constructor(chain: ServedChain, transport: Transport) {
    this.#chain = chain;
    this.#transport = transport;
  }

  end(): void {
    this.#requests.length = 0;
  }

  findIntersection({ params }: Request): Answer {
    if (this.#requests.length > 0) {
      const message = "'findIntersection' requests cannot be interleaved with 'nextBlock'.";
      return { error: { code: CODES.intersectionInterleaved, message } };
    }
    const points = readPoints(params.points);
    if (points === null) return invalidParams('points are {slot, id} or "origin"');
    const tip = tipJson(this.#chain.tip);
    for (const point of points) {
      const place = this.#chain.placeOf(point);
      if (place === undefined) continue;
      this.#place = place;
      // The next step goes back there, also where that changes nothing.
      this.#mustGoBack = true;
      return { result: { intersection: point === 'origin' ? point : { ...point }, tip } };
    }
    const message = 'No intersection found.';
    return { error: { code: CODES.intersectionNotFound, message, data: { tip } } };
  }

  nextBlock(request: Request): void {
    if (this.#requests.length >= MAX_IN_FLIGHT) {
      this.#transport.close(`more than ${MAX_IN_FLIGHT} requests are in flight`);
      return;
    }
    this.#requests.push(request);
    this.pump();
  }

  shortened(place: number): void {
    if (this.#place <= place) return;
    this.#place = place;
    this.#mustGoBack = true;
  }

  /** Answers all requests that can be answered now. */
  pump(): void {
    while (this.#requests.length > 0 && !this.#transport.isFull('nextBlock')) {
      if (this.#isTooFarBack()) {
        // A node has every block, so the protocol has no error for a missing one.
        this.#transport.close('the next block is not kept any more');
        return;
      }
      const step = this.#next();
      const request = step === null ? undefined : this.#requests.shift();
      if (step === null || request === undefined) return;
      this.#transport.send(resultText(request, stepText(step, tipJson(this.#chain.tip))));
    }
  }

  #isTooFarBack(): boolean {
    const isPointShown = this.#mustGoBack && this.#place > 0;
    return (isPointShown ? this.#place : this.#place + 1) < this.#chain.oldest;
  }

  /** null: at the tip. */
  #next(): Step | null {
    if (this.#mustGoBack) {
      this.#mustGoBack = false;
      const here = this.#chain.blockAt(this.#place);
      const point = here === undefined ? 'origin' : { slot: here.slot, id: here.id };
      return { direction: 'backward', point };
    }
    const block = this.#chain.blockAt(this.#place + 1);
    if (block === undefined) return null;
    this.#place += 1;
    return { direction: 'forward', block };
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
function readPoints(value: unknown): (ServedPoint | 'origin')[] | null {
  if (value === undefined) return ['origin'];
  if (!Array.isArray(value)) return null;
  const points = value.map(readPoint);
  return points.every((point) => point !== null) ? points : null;
}

export function readPoint(value: unknown): ServedPoint | 'origin' | null {
  if (value === 'origin') return value;
  if (typeof value !== 'object' || value === null) return null;
  // trust: an object
  const { slot: written, id } = value as Record<string, unknown>;
  const slot = integerIn(written);
  return slot === null || typeof id !== 'string' || id.length !== 64 ? null : { slot, id };
}
