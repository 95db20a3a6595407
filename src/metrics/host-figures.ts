import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { FigureSource, HostFigures } from '../hosting/contract/figures.ts';

/** A host that answers. */
export interface MeasuredHost {
  /** Its id, or `embedded`. */
  host: string;
  source: FigureSource;
}

/** A host that takes longer is left out, so that it delays no scrape. */
const PATIENCE_MS = 3_000;

/** Reads the figures of all hosts that answer in time, by host. A host that fails is logged once until it succeeds. */
export function createHostFigures(
  answering: () => Promise<MeasuredHost[]>,
  log: Logger,
  patienceMs = PATIENCE_MS,
): () => Promise<Map<string, HostFigures>> {
  const failing = new Set<string>();
  /** Requests in progress: a slow host gets no second one. */
  const reading = new Map<string, Promise<HostFigures | null>>();

  async function read({ host, source }: MeasuredHost): Promise<HostFigures | null> {
    try {
      const figures = await source.readFigures();
      failing.delete(host);
      return figures;
    } catch (err) {
      if (!failing.has(host)) log.warn({ err, host }, 'could not read the figures of a host');
      failing.add(host);
      return null;
    } finally {
      reading.delete(host);
    }
  }

  /** Null if it cannot be known: the other figures of a scrape are worth more. */
  async function present(): Promise<MeasuredHost[] | null> {
    try {
      return await answering();
    } catch (err) {
      log.warn({ err }, 'could not find the hosts that answer');
      return null;
    }
  }

  return async () => {
    const found = new Map<string, HostFigures>();
    const late = new AbortController();
    const patience = sleep(patienceMs, null, { signal: late.signal, ref: false }).catch(() => null);
    await Promise.all(
      ((await Promise.race([present(), patience])) ?? []).map(async (one) => {
        const begun = reading.get(one.host) ?? read(one);
        reading.set(one.host, begun);
        const figures = await Promise.race([begun, patience]);
        if (figures !== null) found.set(one.host, figures);
      }),
    );
    late.abort();
    return found;
  };
}
