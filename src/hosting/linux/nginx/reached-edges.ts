import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { OtherEdge } from '../../contract/edge-routes.ts';

/** The other edges that this one has reached where they are now. An edge that is away later stays reached, so that a failure changes no DNS record. */
export interface ReachedEdges {
  /** Tries those that were not reached, now and regularly. */
  start(): void;
  stop(): Promise<void>;
  /** Ids of their hosts. */
  ids(): Promise<string[]>;
}

export interface ReachedEdgesOptions {
  /** Keeps them across restarts. */
  file: string;
  edges(): Promise<OtherEdge[]>;
  /** Why an edge cannot be reached, one sentence; null if it can. */
  probe(edge: OtherEdge, signal: AbortSignal): Promise<string | null>;
  everyMs: number;
  log: Logger;
}

const Places = Type.Array(Type.String());

export function createReachedEdges({ file, edges, probe, everyMs, log }: ReachedEdgesOptions): ReachedEdges {
  let looking: { repetition: Repetition; ending: AbortController } | undefined;

  /** One that cannot be read has none, so that all edges are tried again. */
  async function places(): Promise<Set<string>> {
    const text = await ifThere(readFile(file, 'utf8'));
    try {
      return new Set(text === null ? [] : Value.Parse(Places, JSON.parse(text)));
    } catch (err) {
      log.warn({ err, file }, 'the list of edges that were reached is damaged');
      return new Set();
    }
  }

  async function look(signal: AbortSignal): Promise<void> {
    const [known, present] = [await places(), await edges()];
    const untried = present.filter((edge) => !known.has(placeOf(edge)));
    const tried = await Promise.all(
      untried.map(async (edge) => ((await probe(edge, signal)) === null ? [edge] : [])),
    );
    const fresh = tried.flat();
    if (fresh.length === 0) return;
    const kept = present.filter((edge) => known.has(placeOf(edge)) || fresh.includes(edge));
    await writeDurably(file, JSON.stringify(kept.map(placeOf)));
  }

  return {
    start() {
      if (looking !== undefined) return;
      const ending = new AbortController();
      const repetition = repeatEvery(() => look(ending.signal), {
        delayMs: everyMs,
        immediately: true,
        onError: (err) => log.error({ err }, 'could not look which other edges can be reached'),
      });
      looking = { repetition, ending };
    },
    async stop() {
      looking?.ending.abort();
      await looking?.repetition.stop();
      looking = undefined;
    },
    async ids() {
      const known = await places();
      return (await edges()).filter((edge) => known.has(placeOf(edge))).map(({ hostId }) => hostId);
    },
  };
}

/** An edge that moves to another address must be reached again. */
const placeOf = ({ hostId, host, port }: OtherEdge): string => `${hostId} ${host} ${port}`;
