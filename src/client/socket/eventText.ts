/** The text of server-sent events, cut anywhere, to the data of each. */
export class EventText {
  #rest = '';
  #data: string[] = [];

  /** The data of the events that this part completes. */
  add(part: string): string[] {
    const lines = (this.#rest + part).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    const found: string[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.#data.length > 0) found.push(this.#data.join('\n'));
        this.#data = [];
      } else if (line.startsWith('data:')) {
        this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
      }
    }
    return found;
  }
}
