import { hash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { isTemporary, removeAbandoned, writeAtomically } from '../../../lib/durable-file.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { Proof } from '../../contract/proofs.ts';
import {
  assertChallengePlace,
  assertChallengeText,
  CHALLENGE_LIFETIME_MS,
  isChallengePath,
} from '../../policy/challenge-rules.ts';

/**
 * Published challenges, one file each, because one process may publish and another serve. The edge looks for a file only if the request
 * path has a challenge prefix.
 */
export interface ChallengeFiles {
  /** As `publish` and `withdraw` of the host. */
  publish(proof: Proof): Promise<void>;
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
  /** The text published for a host name (lower case) and a path as sent, or null. */
  textFor(hostname: string, path: string): Promise<string | null>;
  /** Removes expired files, now and every hour. */
  keepSwept(): Promise<void>;
  stopSweeping(): void;
}

export interface ChallengeFilesOptions {
  /** Must exist before any other call. */
  folder: string;
  clock: Clock;
  log: Logger;
}

const SWEEP_EVERY_MS = HOUR_MS;

const StoredChallengeSchema = Type.Object({
  text: Type.String(),
  /** The text is served before this time only. */
  expiresAt: Type.String({ format: 'date-time' }),
});
const storedChallenge = Compile(StoredChallengeSchema);

export function createChallengeFiles({ folder, clock, log }: ChallengeFilesOptions): ChallengeFiles {
  let sweeps: Repetition | undefined;

  /** The name is a hash, so no part of a request becomes part of a path. */
  function fileOf({ hostname, path }: Pick<Proof, 'hostname' | 'path'>): string {
    return join(folder, hash('sha256', `${hostname}\0${path}`, 'hex'));
  }

  /** Null if the file is missing or has expired. Throws an Error if it is not a challenge file. */
  async function readText(file: string): Promise<string | null> {
    const content = await ifThere(readFile(file, 'utf8'));
    if (content === null) return null;
    const { text, expiresAt } = storedChallenge.Parse(JSON.parse(content));
    return clock.now().getTime() < Date.parse(expiresAt) ? text : null;
  }

  async function sweep(): Promise<void> {
    await removeAbandoned(folder, clock.now());
    for (const name of await readdir(folder)) {
      if (isTemporary(name)) continue;
      const file = join(folder, name);
      if ((await readTextOrLog(file)) === null) await rm(file, { force: true });
    }
  }

  async function readTextOrLog(file: string): Promise<string | null> {
    try {
      return await readText(file);
    } catch (err) {
      log.warn({ err, file }, 'removing a challenge file that cannot be read');
      return null;
    }
  }

  return {
    async publish(proof) {
      assertChallengePlace(proof);
      assertChallengeText(proof.text);
      const stored: Type.Static<typeof StoredChallengeSchema> = {
        text: proof.text,
        expiresAt: timestamp(clock, CHALLENGE_LIFETIME_MS),
      };
      await writeAtomically(fileOf(proof), JSON.stringify(stored));
    },
    async withdraw(proof) {
      await rm(fileOf(proof), { force: true });
    },
    async textFor(hostname, path) {
      return isChallengePath(path) ? readText(fileOf({ hostname, path })) : null;
    },
    async keepSwept() {
      await sweep();
      sweeps = repeatEvery(sweep, {
        delayMs: SWEEP_EVERY_MS,
        onError: (err) => log.error({ err }, 'expired challenge files cannot be removed'),
      });
    },
    stopSweeping() {
      void sweeps?.stop();
    },
  };
}
