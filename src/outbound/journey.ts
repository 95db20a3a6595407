import type { Visit, VisitFailure } from './visit.ts';

/** What following redirects came to. */
export interface Journey {
  /** Every URL that was asked, in order. */
  urls: string[];
  /** The last answer; null if there was none. */
  last: Visit | null;
  /** Why it ended early; null if it arrived. */
  failure: VisitFailure | null;
}
