import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Vhost } from './vhost.ts';

/** The wanted state of each website, by install id; null: no longer served. */
export type AskedChanges = ReadonlyMap<string, Vhost | null>;

/** Reports the outcome for a website to the callers; null: success. Only the first report counts. */
export type Settle = (installId: string, error: unknown) => void;

export interface ChangesOptions {
  /** Serializes the turns. */
  alone(turn: () => Promise<void>): Promise<void>;
  /** Applies all requested changes and settles them. Changes that it has not settled fail with the error that it throws. */
  serve(asked: AskedChanges, settle: Settle): Promise<void>;
}

/** Queue of changes to websites. Changes that arrive while others are applied share the next turn, and one reload. */
export interface Changes {
  /** Resolves once the website is served as requested. Of several requests for one website, the last counts for all. */
  submit(installId: string, vhost: Vhost | null): Promise<void>;
  /** Whether a change for this website is waiting. */
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
    // Calls made at the same time share a turn.
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
