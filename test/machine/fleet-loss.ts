import { text } from '../client.ts';
import { type Guest, until } from './guest.ts';
import { connectMachines } from './namespace-machine.ts';
import type { PackageSteps, StepOptions } from './package-steps.ts';
import type { Report } from './report.ts';

export interface FleetLoss {
  /** With the control plane. */
  web1: StepOptions & { steps: PackageSteps; address: string; name: string };
  web2: StepOptions & { steps: PackageSteps; address: string };
  domain: string;
  report: Report;
}

const INSTALLS = 20;
const NAMES = Array.from({ length: INSTALLS }, (_, index) => `lost${index + 1}`);

/** Lets web2 lose its power with 20 websites, rebuilds them on web1, and brings web2 back. Both keep their backups in one place. */
export async function runFleetLoss({ web1, web2, domain, report }: FleetLoss): Promise<void> {
  const { guest, patienceMs } = web1;
  const seen = (steps: PackageSteps, name: string) =>
    steps
      .run(
        `curl -sS -o /dev/null -w '%{http_code} %{size_download}' -H 'Cookie: wordpress_logged_in_x=1' --max-time 60 --resolve ${name}.${domain}:80:127.0.0.1 http://${name}.${domain}/`,
      )
      .then((answer) => answer.split(' ')[0]);
  const untilAllAnswer = (steps: PackageSteps) =>
    until('every website answers', patienceMs, async () => {
      for (const name of NAMES) if ((await seen(steps, name)) !== '200') return false;
      return true;
    });

  const isReady = await report.check(`${INSTALLS} websites of web2 have a backup`, async () => {
    await guest.homeport('host', 'drain', web1.name);
    for (const name of NAMES) {
      await guest.homeport('install', 'create', name);
      await guest.homeport('install', 'wp', name, '--', 'option', 'update', 'blogname', `Kept ${name}`);
    }
    const backups = await Promise.all(
      (await installs(guest)).map(async ({ id }) => ({ id, backup: await guest.createBackup(id) })),
    );
    await until('every backup is complete', patienceMs, async () => {
      for (const { id, backup } of backups)
        if ((await guest.backupStatus(id, backup)) !== 'completed') return false;
      return true;
    });
    await untilAllAnswer(web1.steps);
  });
  if (!isReady) return;

  const isRebuilt = await report.check(
    'web2 loses its power, and web1 serves its websites from their backups',
    async () => {
      await web2.machine.cutPower();
      await guest.homeport('host', 'accept', web1.name);
      const began = Date.now();
      await guest.homeport('host', 'lost', 'web2', '--yes');
      report.step((await guest.homeport('host', 'rebuild', 'web2')).trimEnd());
      await untilAllAnswer(web1.steps);
      report.step(
        `${INSTALLS} websites answered ${Math.round((Date.now() - began) / 1000)} s after the loss was declared`,
      );
      for (const name of NAMES) {
        const title = await guest.homeport('install', 'wp', name, '--', 'option', 'get', 'blogname');
        if (title.trim() !== `Kept ${name}`) throw new Error(`${name} is "${title.trim()}"`);
      }
    },
  );
  if (!isRebuilt) return;

  await report.check('web2 returns, and serves and changes nothing of them', async () => {
    await guest.homeport('install', 'wp', 'lost1', '--', 'option', 'update', 'blogname', 'Later');
    await web2.machine.boot();
    await connectMachines([web1.machine, web2.machine], [web1.address, web2.address]);
    await until('web2 answers, and has set its websites aside', patienceMs, async () => {
      const answers = await Promise.all(NAMES.map((name) => seen(web2.steps, name)));
      return answers.every((status) => status === '404');
    });
    await guest.homeport('host', 'found', 'web2');
    // By the edge of web2, as before the loss.
    await untilAllAnswer(web2.steps);
    const title = await guest.homeport('install', 'wp', 'lost1', '--', 'option', 'get', 'blogname');
    if (title.trim() !== 'Later') throw new Error(`lost1 is "${title.trim()}"`);
    const orphans = await guest.homeport('install', 'orphans');
    for (const name of NAMES)
      if (!orphans.includes(name)) throw new Error(`${name} is not kept:\n${orphans}`);
  });
}

async function installs(guest: Guest): Promise<{ id: string; name: string }[]> {
  const found: { id: string; name: string }[] = [];
  const page: unknown = await guest.api('GET', '/installs?limit=100');
  for (let index = 0; index <= INSTALLS; index++) {
    const name = text(page, 'results', index, 'name');
    if (NAMES.includes(name)) found.push({ id: text(page, 'results', index, 'id'), name });
  }
  return found;
}
