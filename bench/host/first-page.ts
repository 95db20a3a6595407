import { setTimeout as sleep } from 'node:timers/promises';
import { text } from '../../test/client.ts';
import type { BenchHost } from './bench-host.ts';
import { type Api, statusOf } from './control-plane.ts';

/** Milestones of one install's creation, in milliseconds since its POST. */
export interface Made {
  id: string;
  name: string;
  /** The API has answered 201. */
  answered: number;
  /** A visitor has received WordPress's complete home page for the first time. */
  firstPage: number;
  /** The API reports it as active. */
  active: number;
  /** Completion time of each step of the host. */
  steps: Map<string, number>;
}

const PATIENCE_MS = 120_000;
const LOOK_AT_API_MS = 20;

/** Creates an install through the API and requests its home page every `lookMs` until it is served. */
export async function createInstall(
  { visit, steps }: BenchHost,
  api: Api,
  name: string,
  lookMs: number,
): Promise<Made> {
  const began = performance.now();
  const since = (moment = performance.now()) => moment - began;
  const posting = api
    .call('POST', '/installs', { name, account_id: api.accountId })
    .then((body) => ({ id: text(body, 'id'), answered: since() }));
  // Its failure is awaited below, after the page, which would then never be served.
  posting.catch(() => {});
  const page = until(lookMs, since, async () => {
    const { status, body } = await visit(name);
    return status === 200 && body.includes('/wp-content/') && body.includes('</html>');
  });
  const { id, answered } = await posting;
  const firstPage = await page;
  const active = await until(LOOK_AT_API_MS, since, async () => (await statusOf(api, id)) === 'active');
  const own = steps.filter((step) => step.id === id);
  return {
    id,
    name,
    answered,
    firstPage,
    active,
    steps: new Map(own.map(({ step, at }) => [step, since(at - performance.timeOrigin)])),
  };
}

/** Returns the time until the condition held. A redirect or a missing response counts as not yet. */
async function until(everyMs: number, since: () => number, holds: () => Promise<boolean>): Promise<number> {
  for (;;) {
    if (await holds().catch(() => false)) return since();
    if (since() > PATIENCE_MS) throw new Error(`it took longer than ${PATIENCE_MS / 1000} s`);
    await sleep(everyMs);
  }
}
