import type Sqlite from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../lib/entry-limit.ts';
import type { ReadPart } from './answer-rows.ts';
import { createRowChanges } from './row-changes.ts';

/** Answers of one query; about 2 kB each. */
const ANSWERS_KEPT = 20_000;
/** An answer that no one asks for is dropped after this time, to return its memory. */
const UNUSED_MS = 120_000;
const SWEEP_MS = 60_000;

/** Keeps the answers of one query until one of their rows changes. `key` names the values of the query's parameters. */
export interface KeptAnswers<Answer extends object> {
  /** Whether the present answer is kept. */
  has(key: string, parameters: object): boolean;
  /** The kept answer, or that of `read`. */
  get(key: string, parameters: object, read: () => Answer): Answer;
}

export interface KeptAnswersFactory {
  /** A cache for the answers of one query. `rows` names the tables it reads, all of them. */
  create<Answer extends object>(rows: readonly ReadPart[]): KeptAnswers<Answer>;
  /** Call after each commit of this process, before anyone learns of it. */
  committed(): void;
  /** Call if it is not known whether a commit of this process took effect. */
  failed(): void;
  close(): void;
}

interface Kept<Answer> {
  answer: Answer;
  /** The number of the commit that it was read after. */
  readAt: number;
}

/**
 * Answers are dropped by the rows that changed. Temporary triggers on the writing connection report the rows of this process's own
 * changes, including those of cascades and of other triggers. Another process's commit drops every answer. Answers are shared between
 * callers, which must not change them.
 */
export function createKeptAnswers(writing: Sqlite.Database): KeptAnswersFactory {
  const changes = createRowChanges(writing);
  const sweeps = new Set<() => void>();
  const sweeping = setInterval(() => {
    for (const sweep of sweeps) sweep();
  }, SWEEP_MS).unref();

  return {
    committed: changes.committed,
    failed: changes.failed,
    close: () => clearInterval(sweeping),
    create<Answer extends object>(rows: readonly ReadPart[]): KeptAnswers<Answer> {
      const answers = new LRUCache<string, Kept<Answer>>({
        ...entryLimit(ANSWERS_KEPT),
        ttl: UNUSED_MS,
        ttlResolution: 1_000,
        updateAgeOnGet: true,
      });
      sweeps.add(() => answers.purgeStale());
      const parts = rows.map(({ table, column, parameter }) => ({
        watched: changes.watch(table, column),
        parameter,
      }));
      function find(key: string, parameters: object): Answer | undefined {
        changes.noticeOthers();
        const kept = answers.get(key);
        const isCurrent =
          kept !== undefined &&
          parts.every(({ watched, parameter }) =>
            watched.isUnchanged(parameter === null ? null : Reflect.get(parameters, parameter), kept.readAt),
          );
        return isCurrent ? kept.answer : undefined;
      }
      return {
        has: (key, parameters) => find(key, parameters) !== undefined,
        get(key, parameters, read) {
          const kept = find(key, parameters);
          if (kept !== undefined) return kept;
          const answer = read();
          answers.set(key, { answer, readAt: changes.present() });
          return answer;
        },
      };
    },
  };
}
