import { text } from '../client.ts';
import { runFleetLoss } from './fleet-loss.ts';
import { until } from './guest.ts';
import { connectMachines, SHARED } from './namespace-machine.ts';
import { packageSteps, type StepOptions } from './package-steps.ts';
import type { Report } from './report.ts';
import { ScenarioEnded } from './scenario.ts';
import type { TestPackages } from './test-packages.ts';
import { underLoad } from './under-load.ts';
import type { Load } from './visitors.ts';

export interface FleetScenarioOptions {
  /** With the control plane. */
  web1: StepOptions;
  web2: StepOptions;
  report: Report;
  packages: TestPackages;
}

const ADDRESSES = ['10.77.0.1', '10.77.0.2'] as const;
const [ADDRESS1, ADDRESS2] = ADDRESSES;
const SITES = 'sites.example.com';
const DOMAIN = `shop.${SITES}`;
/** Of machines that others reach. */
const REACHABLE = [
  'HOMEPORT_EDGE_HTTP=0.0.0.0:80',
  'HOMEPORT_EDGE_HTTPS=0.0.0.0:443',
  `HOMEPORT_BACKUP_REPOSITORY=${SHARED}/backups`,
];
/** Of web1 on the platform: the host name of both. */
const HOST_NAME = 'machine';
const IDENTITY = '/etc/homeport/web2.pem';

/** Takes two Linux hosts of one platform through set-up, a move, upgrades and a loss, while visitors come to both. Throws ScenarioEnded if the rest makes no sense. */
export async function runFleetScenario({
  web1,
  web2,
  report,
  packages,
}: FleetScenarioOptions): Promise<void> {
  const { guest } = web1;
  const first = packageSteps(web1);
  const second = packageSteps(web2);

  async function required(name: string, work: () => Promise<void>): Promise<void> {
    if (!(await report.check(name, work))) throw new ScenarioEnded(name);
  }

  await required('both boot and reach each other', async () => {
    for (const { machine } of [web1, web2]) await machine.boot();
    await connectMachines([web1.machine, web2.machine], ADDRESSES);
    for (const { run } of [first, second]) await run('apt-get update');
  });
  await required('web1 is set up with the control plane and a website', async () => {
    await first.download(packages.first);
    const settings = [...REACHABLE, `HOMEPORT_SITE_DOMAIN=${SITES}`];
    await first.follow([
      'sudo apt-get install --yes ./homeport_*_amd64.deb',
      `sudo ${settings.join(' ')} HOMEPORT_EDGE_FORWARD=${ADDRESS1}:8471 homeport host setup`,
    ]);
    await first.untilReady();
    await guest.homeport('install', 'create', 'shop');
    await guest.signIn();
  });
  await required('web2 is added', async () => {
    await guest.homeport(
      'host',
      'add',
      'web2',
      `https://${ADDRESS2}:8470`,
      '--out',
      '/var/lib/homeport/web2.pem',
    );
    const identity = await first.run('cat /var/lib/homeport/web2.pem');
    await second.download(packages.first);
    await second.follow(['sudo apt-get install --yes ./homeport_*_amd64.deb']);
    await web2.machine.run('root', `install -d /etc/homeport && umask 077 && cat > ${IDENTITY}`, {
      input: identity,
    });
    const settings = [
      ...REACHABLE,
      `HOMEPORT_EDGE_FORWARD=${ADDRESS2}:8471`,
      `HOMEPORT_HOST_LISTEN=${ADDRESS2}:8470`,
    ];
    await second.follow([
      `sudo ${settings.join(' ')} HOMEPORT_HOST_IDENTITY=${IDENTITY} homeport host setup`,
    ]);
    await until('web2 is listed', web1.patienceMs, async () =>
      /web2.*\b\d+\.\d+/.test(await guest.homeport('host', 'list')),
    );
  });
  await required('the edge of web2 serves the website of web1', () =>
    until('the page arrives', web1.patienceMs, async () => {
      await second.run(`curl -sSf --resolve ${DOMAIN}:80:127.0.0.1 http://${DOMAIN}/ | grep -q -e '</html>'`);
      return true;
    }),
  );

  /** Rejects if a visitor of either machine or a client of the API gets an error. */
  async function withVisitors(work: () => Promise<void>): Promise<void> {
    const ofWeb1 = await loadOfApi();
    const outcome = await underLoad(web2.machine, { visited: VISITED }, async () => {
      const { requests, slowestMs, written } = await underLoad(web1.machine, ofWeb1, work);
      report.step(`${requests} requests at web1, none failed, the slowest took ${slowestMs} ms`);
      for (const id of written) await guest.api('GET', `/sites/${id}`);
    });
    report.step(
      `${outcome.requests} requests at web2, none failed, the slowest took ${outcome.slowestMs} ms`,
    );
  }

  async function loadOfApi(): Promise<Load> {
    const authorization = guest.authorization();
    const id = text(await guest.api('GET', '/installs'), 'results', 0, 'id');
    const api = 'https://localhost:8443/v1';
    return {
      visited: [...VISITED, { address: `${api}/installs/${id}`, headers: { authorization }, contains: id }],
      written: {
        address: `${api}/sites`,
        headers: { authorization, 'content-type': 'application/json' },
        body: { name: 'Written under load', account_id: guest.accountId() },
      },
    };
  }

  const upgrade = (steps: typeof first) => async () => {
    await steps.download(packages.newer);
    await withVisitors(async () => {
      await steps.follow(['sudo homeport upgrade --yes ./homeport_*_amd64.deb']);
      await steps.expectVersion(packages.newer);
    });
  };

  await report.check('an install moves to web2, and no visitor sees an error', async () => {
    await guest.homeport(
      'install',
      'wp',
      'shop',
      '--',
      'post',
      'create',
      '--post_title=Moving',
      '--post_status=publish',
    );
    await withVisitors(async () => {
      report.step((await guest.homeport('install', 'move', 'shop', '--to', 'web2')).trim());
    });
    const posts = await guest.homeport('install', 'wp', 'shop', '--', 'post', 'list', '--field=post_title');
    if (!posts.includes('Moving')) throw new Error(posts);
    const listed = await guest.homeport('install', 'list');
    if (!/^shop .* web2 /m.test(listed)) throw new Error(listed);
  });
  // A host answers a control plane of the version before, and the other way round.
  await report.check('web2 is upgraded first, and no request fails', upgrade(second));
  await report.check('the host of the newer version is commanded', async () => {
    await guest.homeport('install', 'wp', 'shop', '--', 'option', 'update', 'blogname', 'Upgraded');
  });
  await report.check('web1 follows with the control plane, and no request fails', upgrade(first));
  await report.check('the install moves back, and no visitor sees an error', () =>
    withVisitors(async () => {
      report.step((await guest.homeport('install', 'move', 'shop', '--to', HOST_NAME)).trim());
    }),
  );
  await runFleetLoss({
    ...{ report, domain: SITES },
    web1: { ...web1, steps: first, address: ADDRESS1, name: HOST_NAME },
    web2: { ...web2, steps: second, address: ADDRESS2 },
  });
}

const VISITED: Load['visited'] = [
  { address: `http://${DOMAIN}/`, headers: {}, contains: '</html>' },
  // Past the cache of pages, so PHP and the database answer.
  { address: `https://${DOMAIN}/`, headers: { cookie: 'wordpress_logged_in_x=1' }, contains: '</html>' },
];
