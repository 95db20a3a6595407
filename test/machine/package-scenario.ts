import { join } from 'node:path';
import { text } from '../client.ts';
import { commandsIn, page, sectionOf } from '../docs/documented-commands.ts';
import type { Guest } from './guest.ts';
import { packageSteps, type StepOptions } from './package-steps.ts';
import { type Published, type PublishedRelease, publishRelease, versionOf } from './published-release.ts';
import type { Report } from './report.ts';
import { ScenarioEnded } from './scenario.ts';
import type { TestPackages } from './test-packages.ts';
import { underLoad } from './under-load.ts';
import type { Load } from './visitors.ts';

export interface PackageScenarioOptions extends StepOptions {
  report: Report;
  packages: TestPackages;
}

/** Kinds of hosts that the package can set up. */
export const HOSTS = ['embedded', 'linux'] as const;
export type HostKind = (typeof HOSTS)[number];

const TUTORIAL = page('docs/tutorials/operator.md');
/** Settings that an operator changes for the Internet, besides secrets. */
const SETTINGS = [
  'HOMEPORT_EDGE_HTTP=0.0.0.0:80',
  'HOMEPORT_EDGE_HTTPS=0.0.0.0:443',
  'HOMEPORT_OPERATOR_EMAIL=admin@example.com',
];
const SETTINGS_FILE = '/etc/homeport/homeport.conf';
const PORTS = [80, 443, 8443, 2222];
/** How long `homeport upgrade` waits for a version, in seconds. */
const UPGRADE_WAIT = 60;
const RETURNED = 3;

/**
 * Takes the Debian package through installation, set-up, a website, a restart and upgrades under load, removal and purge. On the Linux host, it follows the
 * tutorial for operators. On the embedded host, it upgrades from a list of releases. Throws ScenarioEnded if the remaining checks make no sense.
 */
export async function runPackageScenario(host: HostKind, options: PackageScenarioOptions): Promise<void> {
  const { machine, guest, report, packages, patienceMs } = options;
  const steps = packageSteps({ machine, guest, patienceMs });
  const { run, follow, download, expectVersion, expectLogged, untilReady } = steps;

  async function required(name: string, work: () => Promise<void>): Promise<void> {
    if (!(await report.check(name, work))) throw new ScenarioEnded(name);
  }

  await required('boots', () => machine.boot());
  await run('apt-get update');
  await download(packages.first);
  const domain = host === 'linux' ? await tutorialUpTo() : await embedded();
  const load = await loadOf(domain, guest);

  async function embedded(): Promise<string> {
    await required('the package is installed', async () => {
      await follow(['sudo apt-get install --yes ./homeport_*_amd64.deb']);
    });
    await required('the documented set-up starts the embedded host', () => steps.setUpEmbedded('sqlite'));
    let domain = '';
    await required('a website is created', async () => {
      domain = await steps.createWebsite();
    });
    return domain;
  }

  /** Follows the tutorial for operators up to the upgrade, and gives the domain of its website. */
  async function tutorialUpTo(): Promise<string> {
    for (const heading of headings()) {
      if (heading === 'Connect it to the Internet') {
        const file = `sudo tee -a ${SETTINGS_FILE} > /dev/null`;
        await follow([
          `sudo sed -i '/^HOMEPORT_EDGE_HTTP/d' ${SETTINGS_FILE}`,
          `printf '%s\\n' ${SETTINGS.join(' ')} | ${file}`,
        ]);
      }
      if (heading === 'Upgrade') break;
      await required(`tutorial: ${heading}`, async () => {
        await follow(commandsIn(sectionOf(TUTORIAL, heading)));
      });
    }
    await guest.signIn('frida@harbour-cafe.example');
    return 'shop.sites.example.com';
  }

  const upgrade =
    host === 'linux' ? commandsIn(sectionOf(TUTORIAL, 'Upgrade')) : ['sudo homeport upgrade --yes'];

  const rows: string[] = [];
  /** Rejects if a request fails, or if a row is lost that was written meanwhile or before. */
  async function withVisitors(work: () => Promise<void>): Promise<void> {
    const { requests, repeated, slowestMs, written } = await underLoad(machine, load, work);
    report.step(`${requests} requests, none failed, ${repeated} repeated, the slowest took ${slowestMs} ms`);
    rows.push(...written);
    for (const id of rows) await guest.api('GET', `/sites/${id}`);
    report.step(`${rows.length} rows are there`);
  }

  /** Publishes the newer version for the machine, and upgrades from lists that must be refused. */
  async function publish(): Promise<PublishedRelease> {
    const folder = join(machine.folder, 'releases');
    const made = await publishRelease(machine, { file: packages.newer, key: packages.key, folder });
    const name = async (which: Published) => {
      await run(`sed -i '/^HOMEPORT_RELEASES_URL=/d' ${SETTINGS_FILE}`);
      await run(`echo HOMEPORT_RELEASES_URL=${made.address(which)} >> ${SETTINGS_FILE}`);
    };
    const refused = {
      forged: ['a release with the signature of another key is refused', 'SHA256SUMS is wrong'],
      cut: ['an interrupted download changes nothing', 'could not be downloaded'],
    } as const;
    for (const which of ['forged', 'cut'] as const) {
      const [check, words] = refused[which];
      await report.check(check, async () => {
        await name(which);
        const said = await run('homeport upgrade --yes 2>&1; echo status $?');
        if (!said.includes(words) || !said.endsWith('status 1\n')) throw new Error(said);
        await expectVersion(packages.first);
        await run('test ! -e /var/lib/homeport-upgrade && test ! -e /var/lib/homeport/upgrade');
      });
    }
    await name('right');
    await report.check('a look at the list changes nothing', async () => {
      const said = await run('homeport upgrade --check');
      if (!said.includes('is available')) throw new Error(said);
      await expectVersion(packages.first);
    });
    return made;
  }

  /** Lets the server of a version wait for ever when it starts. */
  async function hangIn(version: string): Promise<void> {
    const program = `import { readFileSync } from 'node:fs';
const { version } = JSON.parse(readFileSync('/usr/lib/homeport/package.json', 'utf8'));
if (version === '${version}' && process.argv.includes('serve')) await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1));
`;
    const encoded = Buffer.from(program).toString('base64');
    const unit = '/etc/systemd/system/homeport.service.d';
    await run(`echo ${encoded} | base64 -d > /usr/local/lib/hang.mjs && chmod 644 /usr/local/lib/hang.mjs`);
    await run(
      `mkdir -p ${unit} && printf '[Service]\nEnvironment=NODE_OPTIONS=--import=/usr/local/lib/hang.mjs\n' > ${unit}/hang.conf && systemctl daemon-reload`,
    );
  }

  await report.check('a restart under load fails no request', () =>
    withVisitors(async () => {
      await run('systemctl restart homeport');
      await untilReady();
    }),
  );
  const published = host === 'embedded' ? await publish() : null;
  await report.check('an upgrade under load fails no request', async () => {
    await download(packages.newer);
    await withVisitors(async () => {
      await follow(upgrade);
      await expectVersion(packages.newer);
      await expectLogged('9001-first-of-test');
    });
  });
  await report.check('an upgrade to a broken version returns, and fails no request', async () => {
    const { newer, broken } = packages;
    await machine.give(broken, 'root/broken.deb');
    await withVisitors(async () => {
      const ended = await run(
        `homeport upgrade --yes --wait ${UPGRADE_WAIT} /root/broken.deb 2>&1; echo status $?`,
      );
      if (!ended.includes(`status ${RETURNED}`)) throw new Error(ended.slice(-4_000));
      await expectVersion(newer);
      await expectLogged('9002-second-of-test');
      await expectLogged('the database is that from before the failed upgrade');
      await untilReady();
    });
  });
  if (host === 'embedded')
    await report.check('an upgrade to a version that hangs returns', async () => {
      await hangIn(versionOf(packages.broken));
      const ended = await run(`homeport upgrade --yes /root/broken.deb 2>&1; echo status $?`);
      if (!ended.includes('no sign of life') || !ended.includes(`status ${RETURNED}`))
        throw new Error(ended.slice(-4_000));
      await expectVersion(packages.newer);
      await untilReady();
    });
  if (host === 'linux')
    await report.check('the documented way back leads to the former version', async () => {
      await machine.give(packages.first, 'home/admin/homeport_FORMER_amd64.deb');
      const [backup = ''] = (await run('ls -d /var/backups/homeport/homeport-*')).split('\n');
      const blocks = commandsIn(sectionOf(page('docs/install.md'), 'Upgrade')).filter((block) =>
        block.includes('--allow-downgrades'),
      );
      await follow(
        blocks.map((block) =>
          block
            .replace('--allow-downgrades', '--yes --allow-downgrades')
            .replace('/mnt/backups/homeport-NAME', backup),
        ),
      );
      await untilReady();
      await expectVersion(packages.first);
      await run(`curl -sSf --resolve ${domain}:80:127.0.0.1 http://${domain}/ | grep -q -e '</html>'`);
    });
  await report.check('removal stops everything and keeps the data', async () => {
    await run('DEBIAN_FRONTEND=noninteractive apt-get remove --yes homeport');
    await run('test -e /var/lib/homeport/homeport.sqlite && test ! -e /usr/bin/homeport');
    const listening = await run('ss -Hltn');
    for (const port of PORTS)
      if (listening.includes(`:${port} `)) throw new Error(`port ${port} is open: ${listening}`);
  });
  const answer = host === 'embedded';
  await report.check(
    `purge ${answer ? 'deletes the data if the answer is yes' : 'keeps the data without an answer'}`,
    async () => {
      if (answer) await run("echo 'homeport homeport/delete-websites boolean true' | debconf-set-selections");
      const said = await run('DEBIAN_FRONTEND=noninteractive apt-get purge --yes homeport 2>&1');
      await run(
        `test ! -e /usr/lib/homeport && test ${answer ? '!' : ''} -e /var/lib/homeport/homeport.sqlite`,
      );
      if (!answer && !said.includes('are kept in')) throw new Error(said);
    },
  );
  if (published !== null)
    await report.check('the installer installs the release again', async () => {
      const release = published.folderOf('right');
      await follow([`curl -fsSLO ${release}install.sh`, `sudo sh install.sh --from ${release}`]);
      await expectVersion(packages.newer);
    });
  await published?.end();
}

/** Sections of the tutorial, in order. */
const headings = () => [...TUTORIAL.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);

/** Requests to a website over HTTP and HTTPS, and to the API. */
async function loadOf(domain: string, guest: Guest): Promise<Load> {
  const authorization = guest.authorization();
  const id = text(await guest.api('GET', '/installs'), 'results', 0, 'id');
  const api = 'https://localhost:8443/v1';
  return {
    visited: [
      { address: `http://${domain}/`, headers: {}, contains: '</html>' },
      // Past the cache of pages, so PHP and the database answer.
      { address: `https://${domain}/`, headers: { cookie: 'wordpress_logged_in_x=1' }, contains: '</html>' },
      { address: `${api}/installs/${id}`, headers: { authorization }, contains: id },
    ],
    written: {
      address: `${api}/sites`,
      headers: { authorization, 'content-type': 'application/json' },
      body: { name: 'Written under load', account_id: guest.accountId() },
    },
  };
}
