/**
 * Asks HTTP, and compares each answer with what mirrors knew at its X-Position. It asks at random
 * and right after frames, so that positions with a frame of their own are met often.
 */
import assert from 'node:assert/strict';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { type Position, positionOf } from '../../support/chart.ts';
import type { Mirror } from './mirror.ts';
import type { State } from './states.ts';
import type { LiveStream } from './stream.ts';
import type { Question, StreamSpec } from './streamSpecs.ts';

export interface Counts {
  compared: number;
  /** Different answers of HTTP that were compared. */
  readonly values: Set<string>;
  /** Comparisons of mirrors with each other. */
  mirrored: number;
}

interface Answer {
  readonly body: unknown;
  readonly text: string;
  /** null: a refusal, which no stream continues. */
  readonly position: Position | null;
}

/** Requests at a time. */
const MAX_ASKED = 6;
/** Share of frames that are checked against HTTP. */
const SHARE = 0.5;

export class Comparer {
  readonly counts = new Map<string, Counts>();
  readonly faults: unknown[] = [];
  readonly #rng: Rng;
  #url: string;
  readonly #mirrors: Mirror[] = [];
  readonly #bySpec = new Map<string, LiveStream[]>();
  #asked = 0;
  running = true;

  constructor(rng: Rng, url: string) {
    this.#rng = rng;
    this.#url = url;
  }

  /** After a restart. */
  set url(url: string) {
    this.#url = url;
  }

  add(mirror: Mirror): void {
    this.#mirrors.push(mirror);
    for (const stream of mirror.streams) {
      const streams = this.#bySpec.get(nameOf(stream.spec)) ?? [];
      this.#bySpec.set(nameOf(stream.spec), [...streams, stream]);
      stream.onChange = (_, seq, state) => {
        this.#mirrored(stream, seq, state);
        if (this.running && this.#rng.unit() < SHARE) this.#askAbout(stream);
      };
    }
  }

  /** Asks a random question; resolves with the answer. */
  async random(): Promise<void> {
    const streams = this.#mirrors[0]?.streams ?? [];
    const stream = streams[Math.floor(this.#rng.unit() * streams.length)];
    if (stream !== undefined) await this.#ask(stream.spec, this.#question(stream.spec));
  }

  /** All questions about all specs, and how many comparisons with mirrors that made at once. */
  async everything(): Promise<{ asked: number; compared: number }> {
    const done = { asked: 0, compared: 0 };
    for (const [, [stream]] of this.#bySpec) {
      assert(stream !== undefined);
      for (const question of stream.spec.questions) {
        const isKnown = await this.#ask(stream.spec, question, done);
        if (isKnown) done.asked += 1;
        else question.check(stream.state ?? assert.fail('it knows something'), null);
      }
    }
    return done;
  }

  /** Loads `stream` over HTTP again, at the position for its next `since`. */
  async reload(stream: LiveStream): Promise<boolean> {
    const question = stream.spec.questions.find(({ state }) => state !== undefined);
    if (question?.state === undefined) return false;
    const { body, position } = await this.#read(question);
    if (position === null) return false;
    stream.load(question.state(body), position);
    return true;
  }

  check(): void {
    for (const mirror of this.#mirrors) mirror.check();
    const [first] = this.faults;
    if (first !== undefined) throw first;
  }

  #askAbout(stream: LiveStream): void {
    if (this.#asked >= MAX_ASKED) return;
    this.#ask(stream.spec, this.#question(stream.spec)).catch((error: unknown) => {
      if (this.running) this.faults.push(error);
    });
  }

  #question({ questions }: StreamSpec): Question {
    const question = questions[Math.floor(this.#rng.unit() * questions.length)];
    return question ?? assert.fail('there is a question');
  }

  /** False: there is nothing to compare with. */
  async #ask(spec: StreamSpec, question: Question, done = { compared: 0 }): Promise<boolean> {
    this.#asked += 1;
    try {
      const { body, text, position } = await this.#read(question);
      if (position === null) return false;
      const counts = this.#countsOf(spec);
      for (const stream of this.#bySpec.get(nameOf(spec)) ?? []) {
        if (stream.own !== null) assert.equal(position.epoch, stream.own.epoch);
        stream.check(position.seq, (state) => {
          counts.compared += 1;
          done.compared += 1;
          counts.values.add(text);
          question.check(state, body);
        });
      }
      return true;
    } finally {
      this.#asked -= 1;
    }
  }

  async #read({ path, body }: Question): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    const post = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${this.#url}${path}`, body === undefined ? {} : post);
    const text = await answer.text();
    assert(answer.status === 200 || answer.status === 404, `${path}: ${answer.status} ${text}`);
    const found: unknown = answer.status === 404 ? null : JSON.parse(text);
    return { body: found, text, position: found === null ? null : positionOf(answer) };
  }

  /** The others of the same topic must have known the same at this position. */
  #mirrored(stream: LiveStream, seq: number, state: State): void {
    const counts = this.#countsOf(stream.spec);
    for (const other of this.#bySpec.get(nameOf(stream.spec)) ?? []) {
      if (other === stream || other.asking) continue;
      other.check(seq, (theirs) => {
        counts.mirrored += 1;
        assertAgree(stream, state, theirs);
      });
    }
  }

  #countsOf({ topic }: StreamSpec): Counts {
    let counts = this.counts.get(topic);
    if (counts === undefined) {
      counts = { compared: 0, values: new Set(), mirrored: 0 };
      this.counts.set(topic, counts);
    }
    return counts;
  }
}

function assertAgree(stream: LiveStream, mine: State, theirs: State): void {
  try {
    mine.assertSame(theirs);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(`not as ${stream.what}: ${said}`, { cause: error });
  }
}

function nameOf({ topic, data }: StreamSpec): string {
  return `${topic} ${JSON.stringify(data)}`;
}
