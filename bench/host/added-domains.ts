import { setTimeout as sleep } from 'node:timers/promises';
import { visit } from '../../test/edge.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs } from '../measure/units.ts';
import { withBenchHost } from './bench-host.ts';
import { withControlPlane } from './control-plane.ts';
import { createInstall } from './first-page.ts';

const PATIENCE_MS = 10_000;
const LOOK_MS = 5;
/** Jobs of the former domain end, because those of one install run one after the other. */
const REST_MS = 500;
/** A file of WordPress, so that the time of PHP does not count. */
const FILE = '/wp-includes/images/blank.gif';

/** From the API call that adds a domain to the first visitor who is served under it. */
export async function benchAddedDomains({ report, quick }: Run): Promise<void> {
  const count = quick ? 3 : 30;
  progress('starting a host and a control plane');
  const { answered, served } = await withBenchHost((host) =>
    withControlPlane(host, async (api) => {
      const { id } = await createInstall(host, api, 'bench-domains', 20);
      const { edgeHttp, edgeHttps, sshListen: ssh } = host.machine.config;
      const isServed = async (name: string) => {
        const { status } = await visit({ hosting: { edgeHttp, edgeHttps, ssh } }, `http://${name}${FILE}`);
        return status === 200;
      };
      progress(`${count} domains`);
      const [answered, served]: [number[], number[]] = [[], []];
      for (let n = 0; n < count; n++) {
        const name = `added-${n}.test`;
        if (await isServed(name)) throw new Error(`${name} is served before it is added`);
        const began = performance.now();
        const adding = api
          .call('POST', `/installs/${id}/domains`, { name })
          .then(() => performance.now() - began);
        adding.catch(() => {});
        while (!(await isServed(name))) {
          await sleep(LOOK_MS);
          if (performance.now() - began > PATIENCE_MS) throw new Error(`${name} is not served`);
        }
        served.push(performance.now() - began);
        answered.push(await adding);
        await sleep(REST_MS);
      }
      return { answered, served };
    }),
  );
  report.part('Domains added through the API');
  report.figure({
    what: `POST of a domain until its answer, median of ${count}`,
    value: median(answered),
    unit: 'ms',
    measured: `at most ${shownMs(Math.max(...answered))}`,
  });
  report.figure({
    what: `POST of a domain until a visitor is served, median of ${count}`,
    value: median(served),
    unit: 'ms',
    measured: `at most ${shownMs(Math.max(...served))}`,
    goal: { atMost: 100 },
  });
  report.end();
}
