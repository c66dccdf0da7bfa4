/**
 * Frames of a flush that only one socket gets, collected and sent socket by socket, so that all
 * frames of a socket are one write. For a frame with one recipient this costs half of a publish,
 * which copies the frame, looks its channel up and comes back to the socket later
 * (bench/RESULTS.md).
 */
import type { FrameBuilder } from '../gateway/frame.ts';
import type { Observer } from '../gateway/observer.ts';
import type { Recipient } from './port.ts';

export class Outbox {
  readonly #observer: Observer;
  readonly #recipients = new Set<Recipient>();

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  add(to: Recipient, builder: FrameBuilder, head: Uint8Array): void {
    if (to.keepFrame(builder, head) === 1) this.#recipients.add(to);
  }

  /** Whether no socket waits for frames of a flush. */
  get isEmpty(): boolean {
    return this.#recipients.size === 0;
  }

  /** At the end of a flush, until `isOver`. True: all is sent. Only then another flush begins. */
  dispatch(isOver: () => boolean): boolean {
    for (const to of this.#recipients) {
      this.#recipients.delete(to);
      try {
        to.deliver();
      } catch (error) {
        this.#observer.handlerFailed('deliver', error);
      }
      if (isOver()) break;
    }
    return this.isEmpty;
  }
}
