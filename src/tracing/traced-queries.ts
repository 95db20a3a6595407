import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import type { QueryTrace } from '../database/query-trace.ts';
import type { Attributes } from './otlp.ts';

/** A span that has begun. `run` makes it the parent of the spans of some work. */
export interface BegunSpan {
  run<Result>(work: () => Result): Result;
  end(name: string, attributes: Attributes, error?: unknown): void;
}

/** Different statements of the program, including those for several numbers of rows. */
const MOST_SUMMARIES = 2_000;
/** Characters of a statement in its span. Those that insert hundreds of rows are longer. */
const MOST_TEXT = 4_000;
const OPERATION = /^[\s(]*(\w+)/;
const TABLE = /\b(?:from|into|update)\s+"?(\w+)"?/i;

/** Spans of statements and transactions, by OpenTelemetry's conventions for databases. `begin` returns nothing outside of a recorded span. */
export function createQueryTrace(
  system: 'sqlite' | 'postgresql',
  begin: () => BegunSpan | undefined,
): QueryTrace {
  const summaries = new LRUCache<string, string>({ max: MOST_SUMMARIES });

  function summaryOf(text: string): string {
    const known = summaries.get(text);
    if (known !== undefined) return known;
    const summary = [OPERATION.exec(text)?.[1]?.toUpperCase(), TABLE.exec(text)?.[1]].join(' ').trim();
    summaries.set(text, summary);
    return summary;
  }

  /** Ends a span with what has become of its work, which has begun already. */
  async function until<Result>(result: Promise<Result>, end: (error?: unknown) => void): Promise<Result> {
    try {
      const value = await result;
      end();
      return value;
    } catch (error) {
      end(error);
      throw error;
    }
  }

  return {
    statement(text, send) {
      const span = begin();
      if (span === undefined) return send();
      const summary = summaryOf(text);
      const attributes = {
        'db.system.name': system,
        'db.query.text': text.slice(0, MOST_TEXT),
        'db.query.summary': summary,
      };
      return until(send(), (error) => span.end(summary, attributes, error));
    },
    transaction(work, run) {
      const span = begin();
      if (span === undefined) return run(AsyncLocalStorage.bind(work));
      const bound = span.run(() => AsyncLocalStorage.bind(work));
      return until(run(bound), (error) => span.end('transaction', { 'db.system.name': system }, error));
    },
  };
}
