import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Vhost } from './vhost.ts';

/** What is asked for of each website, by the id of its install; null: to be served no more. */
export type AskedChanges = ReadonlyMap<string, Vhost | null>;

/** Tells those who asked for a change of this website how it ended; null: well. Only the first time counts. */
export type Settle = (installId: string, error: unknown) => void;

export interface ChangesOptions {
  /** Has one turn at a time. */
  alone(turn: () => Promise<void>): Promise<void>;
  /** Brings about all that was asked for until now, and settles it. What it throws is told to whom it has not settled. */
  serve(asked: AskedChanges, settle: Settle): Promise<void>;
}

/** Changes of websites that wait for their turn: those that come while another is brought about share the next, and one reload. */
export interface Changes {
  /** Resolves once it is served so; of several for the same website the last counts, and all are told how it ended. */
  submit(installId: string, vhost: Vhost | null): Promise<void>;
  /** Whether one is waiting for this website. */
  isWaiting(installId: string): boolean;
}

interface Change {
  installId: string;
  vhost: Vhost | null;
  resolve(): void;
  reject(reason: unknown): void;
}

export function createChanges({ alone, serve }: ChangesOptions): Changes {
  let waiting: Change[] = [];

  async function takeTurn(): Promise<void> {
    // Calls of the same moment share a turn.
    await nextTurn();
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const settle: Settle = (installId, error) => {
      for (const change of batch.filter((one) => one.installId === installId)) {
        if (error === null) change.resolve();
        else change.reject(error);
      }
    };
    try {
      await serve(new Map(batch.map(({ installId, vhost }) => [installId, vhost])), settle);
    } catch (error) {
      for (const change of batch) change.reject(error);
    }
  }

  return {
    submit: (installId, vhost) =>
      new Promise((resolve, reject) => {
        waiting.push({ installId, vhost, resolve, reject });
        void alone(takeTurn);
      }),
    isWaiting: (installId) => waiting.some((change) => change.installId === installId),
  };
}
