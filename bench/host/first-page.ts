import { setTimeout as sleep } from 'node:timers/promises';
import { text } from '../../test/client.ts';
import type { BenchHost } from './bench-host.ts';
import { type Api, statusOf } from './control-plane.ts';

/** How the making of one install went, in milliseconds since its POST was sent. */
export interface Made {
  id: string;
  name: string;
  /** The API has answered 201. */
  answered: number;
  /** A visitor has been shown WordPress's home page for the first time, whole. */
  firstPage: number;
  /** The API calls it active. */
  active: number;
  /** When each step of the host was done. */
  steps: Map<string, number>;
}

const PATIENCE_MS = 120_000;
const LOOK_AT_API_MS = 20;

/** Creates an install by the API and looks at its home page every `lookMs` until it is there. */
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
  // Its failure is awaited below, after the page that would never come.
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

/** Gives how long it was until it held. A visitor who is sent away or not answered counts as not yet. */
async function until(everyMs: number, since: () => number, holds: () => Promise<boolean>): Promise<number> {
  for (;;) {
    if (await holds().catch(() => false)) return since();
    if (since() > PATIENCE_MS) throw new Error(`it took longer than ${PATIENCE_MS / 1000} s`);
    await sleep(everyMs);
  }
}
