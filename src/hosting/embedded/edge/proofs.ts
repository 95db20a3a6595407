import { hash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { isTemporary, removeAbandoned, writeAtomically } from '../../../lib/durable-file.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { CHALLENGE_TOKEN, MAX_HOST_NAME, SERVED_NAME } from '../../../lib/host-names.ts';
import { ifThere } from '../../../lib/if-there.ts';
import {
  ACME_CHALLENGE_PREFIX,
  DOMAIN_CHECK_PREFIX,
  PermanentHostError,
  type Proof,
} from '../../contract/host.ts';

/**
 * The proofs that are published, a file each, as the process that publishes one need not be the one that serves. A
 * file is looked for only when a visitor asks below the prefixes of proofs.
 */
export interface Proofs {
  /** As `publish` and `withdraw` of the host. */
  publish(proof: Proof): Promise<void>;
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
  /** What to answer for a host name (lower case) and a path as it was sent, or null if nothing is published there. */
  textFor(hostname: string, path: string): Promise<string | null>;
  /** Removes the files of proofs that have ended, now and every hour. */
  keepSwept(): Promise<void>;
  stopSweeping(): void;
}

export interface ProofsOptions {
  /** Must exist before any other call. */
  folder: string;
  clock: Clock;
  log: Logger;
}

const LIFE_MS = DAY_MS;
const SWEEP_EVERY_MS = HOUR_MS;
const MAX_TEXT_BYTES = 1024;
const HOSTNAME = new RegExp(`^(?=.{1,${MAX_HOST_NAME}}$)${SERVED_NAME}$`);
const TOKEN = new RegExp(`^${CHALLENGE_TOKEN}$`);
const PREFIXES = [ACME_CHALLENGE_PREFIX, DOMAIN_CHECK_PREFIX];

const StoredProofSchema = Type.Object({
  text: Type.String(),
  /** The first moment in which it is answered no more. */
  expiresAt: Type.String({ format: 'date-time' }),
});
const storedProof = Compile(StoredProofSchema);

/** Whether proofs may be published at paths like this. */
export function isProofPath(path: string): boolean {
  return PREFIXES.some((prefix) => path.startsWith(prefix));
}

function isCompletePath(path: string): boolean {
  const prefix = PREFIXES.find((one) => path.startsWith(one));
  return prefix !== undefined && TOKEN.test(path.slice(prefix.length));
}

export function createProofs({ folder, clock, log }: ProofsOptions): Proofs {
  let sweeps: Repetition | undefined;

  /** Named by a hash, so that nothing of a request becomes part of a path. */
  function fileOf({ hostname, path }: Pick<Proof, 'hostname' | 'path'>): string {
    return join(folder, hash('sha256', `${hostname}\0${path}`, 'hex'));
  }

  /** The text of a proof that has not ended. Throws an Error if the file is not one of a proof. */
  async function readText(file: string): Promise<string | null> {
    const content = await ifThere(readFile(file, 'utf8'));
    if (content === null) return null;
    const { text, expiresAt } = storedProof.Parse(JSON.parse(content));
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
      log.warn({ err, file }, 'the file of a proof cannot be used and is removed');
      return null;
    }
  }

  return {
    async publish(proof) {
      assertProof(proof);
      const stored: Type.Static<typeof StoredProofSchema> = {
        text: proof.text,
        expiresAt: timestamp(clock, LIFE_MS),
      };
      await writeAtomically(fileOf(proof), JSON.stringify(stored));
    },
    async withdraw(proof) {
      await rm(fileOf(proof), { force: true });
    },
    async textFor(hostname, path) {
      return isCompletePath(path) ? readText(fileOf({ hostname, path })) : null;
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

function assertProof({ hostname, path, text }: Proof): void {
  if (!HOSTNAME.test(hostname)) {
    throw new PermanentHostError(
      `a proof cannot be published for "${hostname}": it is no host name in lower case`,
    );
  }
  if (!isCompletePath(path)) {
    throw new PermanentHostError(
      `a proof cannot be published at "${path}": it is not below ${PREFIXES.join(' or ')}`,
    );
  }
  if (text === '' || !text.isWellFormed() || Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw new PermanentHostError(`the text of a proof has 1 to ${MAX_TEXT_BYTES} bytes in UTF-8`);
  }
}
