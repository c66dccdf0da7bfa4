/** What the fold tells the streams after each batch. */
export interface TopicHub {
  /** The applied position moved; `tags` were touched. Called once per batch. */
  applied(tags: Iterable<string>): void;
  /** The log is another one now: every subscription gets Resync and a snapshot. */
  epochChanged(): void;
}
