/** What the notebook's commands hand to a panel; kept until the panel's composer listens. */
import type { ContextChoice } from '../host';

type Hear = (choice: ContextChoice) => void;

export class Attachments {
  private readonly waiting: ContextChoice[] = [];
  private hearing: Hear | undefined;

  offer(choice: ContextChoice): void {
    if (this.hearing) {
      this.hearing(choice);
    } else {
      this.waiting.push(choice);
    }
  }

  /** The composer that is shown hears everything that waits, then what comes. */
  readonly hear = (hear: Hear): (() => void) => {
    this.hearing = hear;
    this.waiting.splice(0).forEach(hear);
    return () => {
      if (this.hearing === hear) {
        this.hearing = undefined;
      }
    };
  };
}
