/**
 * Asks the running server and collects wrong answers, so that one run lists every difference.
 * Missing operations are listed apart from wrong answers.
 */
import assert from 'node:assert/strict';
import { Documents } from './conforms.ts';

type Query = Readonly<Record<string, string | number>>;

export interface Question {
  /** `GET /path`, as the documents name it. */
  readonly route: string;
  /** In place of the route's path, where that has a parameter. */
  readonly path?: string;
  readonly query?: Query;
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

export class Asker {
  readonly url: string;
  readonly documents: Documents;
  readonly missing = new Set<string>();
  readonly asked = new Set<string>();
  /** Positions of the answers that carry one: a market at rest has one position and one tip. */
  readonly positions = new Set<string>();
  /** The request without its details, and how the answer differed. */
  readonly #faults: (readonly [string, string])[] = [];
  /** Answers compared. */
  compared = 0;

  constructor(url: string, documents: Documents) {
    this.url = url;
    this.documents = documents;
  }

  static async at(url: string): Promise<Asker> {
    return new Asker(url, await Documents.read(url));
  }

  /** null: there is no such route. */
  async ask(question: Question): Promise<Answered | null> {
    const { route, query = {}, body } = question;
    const [method = '', documented = ''] = route.split(' ');
    const path = question.path ?? documented;
    this.asked.add(route);
    const fields = Object.entries(query).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    const answer = await fetch(`${this.url}${path}?${new URLSearchParams(fields)}`, sent);
    const text = await answer.text();
    const found: unknown = JSON.parse(text);
    if (answer.status === 404 && Reflect.get(Object(found), 'cause') === 'NOT_FOUND') {
      this.missing.add(route);
      return null;
    }
    this.judge(route, JSON.stringify(question), () =>
      this.documents.answer(route, answer.status, found),
    );
    const [position, hash] = ['x-position', 'x-block-hash'].map((name) => answer.headers.get(name));
    if (position != null) this.positions.add(`${position} at ${hash}`);
    return { status: answer.status, body: found, headers: answer.headers };
  }

  /** The answer is 200 and exactly this, once `arranged` where the contract names no order. */
  async expect(
    question: Question,
    expected: unknown,
    arranged: (body: unknown) => unknown = (body) => body,
  ): Promise<Answered | null> {
    const answer = await this.ask(question);
    if (answer === null) return null;
    this.judge(question.route, JSON.stringify(question), () => {
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.deepEqual(arranged(answer.body), expected);
    });
    return answer;
  }

  async refused(question: Question, status: number, cause: string): Promise<void> {
    const answer = await this.ask(question);
    if (answer === null) return;
    this.judge(question.route, JSON.stringify(question), () => {
      const said = Reflect.get(Object(answer.body), 'cause');
      assert.deepEqual([answer.status, said], [status, cause]);
    });
  }

  judge(what: string, details: string, comparison: () => void): void {
    this.compared += 1;
    try {
      comparison();
    } catch (error) {
      const told = error instanceof Error ? error.message : String(error);
      this.#faults.push([what, `${details}\n${told}`]);
    }
  }

  /** Fails with one example of each kind of difference, then with the missing operations. */
  settle(what: string): void {
    const counts = new Map<string, number>();
    const told = this.#faults.filter(([kind]) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts.get(kind) === 1;
    });
    const examples = told.map(([kind, text]) => `${counts.get(kind)} x ${kind} ${text}`);
    const all = this.#faults.length;
    assert.equal(all, 0, `${what}: ${all} differ\n${examples.join('\n\n')}`);
    assert.deepEqual([...this.missing], [], `${what}: not offered`);
  }
}
