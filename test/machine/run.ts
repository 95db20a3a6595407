import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/lib/error-message.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { succeeds } from '../../src/lib/run-command.ts';
import { RELEASES, type Release } from './base-system.ts';
import { guestOf } from './guest.ts';
import { createMachine } from './machine.ts';
import { type MachineImage, machineImage } from './machine-image.ts';
import { onMachine } from './on-machine.ts';
import { testFleet, testPackage } from './package-run.ts';
import { HOSTS, type HostKind } from './package-scenario.ts';
import { DATABASES, type DatabaseKind } from './package-steps.ts';
import { createReport, type Report } from './report.ts';
import { runScenario } from './scenario.ts';

const USAGE = `Tests Homeport on whole Debian machines with systemd, in qemu: npm run test:machine -- [package|fleet] [release…] [options]

  package               the Debian package and the tutorial for operators, in namespaces instead of qemu
  fleet                 two Linux hosts of one platform, in namespaces: moves and upgrades under load, and a loss
  release               12 and 13 if left out
  --host <kind>         of the package: embedded or linux (both)
  --kills <database>    of the package: kills upgrades at each step instead, with sqlite, postgres or both
  --folder <path>       images, machines and evidence of failures (/var/tmp/homeport-machines)
  --slowness <factor>   all deadlines are multiplied by it: emulation is 6 to 40 times slower (10)
  --memory <MiB>        of a machine (3072)
  --processors <count>  of a machine (2)
  --accelerator <name>  tcg emulates and works everywhere; kvm where /dev/kvm runs Debian's kernels (tcg)
  --keep-image          start from the image of the last run, without the commits since

Needs root and the Debian packages mmdebstrap qemu-system-x86 qemu-utils e2fsprogs openssh-client git. For the package and the fleet: mmdebstrap slirp4netns git.
`;

/** Programs and the Debian packages that they are in. */
const PROGRAMS_OF_PACKAGE = { mmdebstrap: 'mmdebstrap', slirp4netns: 'slirp4netns', git: 'git' };
const PROGRAMS = {
  mmdebstrap: 'mmdebstrap',
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-img': 'qemu-utils',
  mke2fs: 'e2fsprogs',
  ssh: 'openssh-client',
  git: 'git',
};

/** On a machine that is not emulated. */
const PATIENCE_MS = 60_000;
const SETUP_MS = 180_000;

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** Subjects of a run. The first one runs in qemu. */
const SUBJECTS = ['clone', 'package', 'fleet'] as const;

const options = readOptions();
if (options !== null) process.exitCode = (await testReleases(options)) ? 0 : 1;

interface Options {
  subject: (typeof SUBJECTS)[number];
  /** Kinds of hosts to test the package with. */
  hosts: readonly HostKind[];
  killed: readonly DatabaseKind[];
  releases: Release[];
  folder: string;
  slowness: number;
  memoryMb: number;
  processors: number;
  accelerator: string;
  keepImage: boolean;
}

/** Null if there is nothing to run; the reason is printed. */
function readOptions(): Options | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        host: { type: 'string' },
        kills: { type: 'string' },
        folder: { type: 'string', default: '/var/tmp/homeport-machines' },
        slowness: { type: 'string', default: '10' },
        memory: { type: 'string', default: '3072' },
        processors: { type: 'string', default: '2' },
        accelerator: { type: 'string', default: 'tcg' },
        'keep-image': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      return null;
    }
    const subject = SUBJECTS.find((name) => name === positionals[0]) ?? 'clone';
    const releases = positionals.slice(positionals[0] === subject ? 1 : 0).map(asRelease);
    if (subject !== 'package' && (values.host ?? values.kills) !== undefined)
      throw new OperatorError('--host and --kills are for "package".');
    return {
      subject,
      hosts: hostsOf(values.host),
      killed: values.kills === undefined ? [] : databasesOf(values.kills),
      releases: releases.length === 0 ? ['12', '13'] : releases,
      folder: values.folder,
      slowness: positive('--slowness', values.slowness),
      memoryMb: positive('--memory', values.memory),
      processors: positive('--processors', values.processors),
      accelerator: values.accelerator,
      keepImage: values['keep-image'],
    };
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${USAGE}`);
    process.exitCode = 2;
    return null;
  }
}

function hostsOf(given: string | undefined): readonly HostKind[] {
  const hosts = HOSTS.filter((kind) => given === undefined || given === kind);
  if (hosts.length > 0) return hosts;
  throw new OperatorError(`"${given}" is no kind of host: ${HOSTS.join(' or ')}.`);
}

function databasesOf(given: string): readonly DatabaseKind[] {
  const databases = DATABASES.filter((kind) => given === 'both' || given === kind);
  if (databases.length > 0) return databases;
  throw new OperatorError(`"${given}" is no database: ${DATABASES.join(', ')} or both.`);
}

function asRelease(text: string): Release {
  if (text === '12' || text === '13') return text;
  throw new OperatorError(`"${text}" is not a release: ${Object.keys(RELEASES).join(' or ')}.`);
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new OperatorError(`${option} takes a number above 0, not "${text}".`);
}

/** True if everything passed. */
async function testReleases(given: Options): Promise<boolean> {
  const missing = await whatIsMissing(given.subject === 'clone' ? PROGRAMS : PROGRAMS_OF_PACKAGE);
  if (missing !== null) {
    process.stderr.write(`${missing}\n`);
    return false;
  }
  await mkdir(given.folder, { recursive: true });
  const report = createReport((line) => process.stdout.write(line), Date.now);
  const inNamespaces = { ...given, repository: REPOSITORY };
  if (given.subject === 'package') await testPackage(inNamespaces, report);
  else if (given.subject === 'fleet') await testFleet(inNamespaces, report);
  else for (const release of given.releases) await testRelease(release, given, report);
  const { passed, failed } = report.counts();
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0;
}

async function whatIsMissing(programs: Readonly<Record<string, string>>): Promise<string | null> {
  if (process.getuid?.() !== 0)
    return 'The machine test makes images of Debian, which takes root: sudo npm run test:machine';
  const packages = new Set<string>();
  for (const [program, name] of Object.entries(programs)) {
    if (!(await succeeds('which', [program]))) packages.add(name);
  }
  if (packages.size === 0) return null;
  const names = [...packages].join(' ');
  return `The machine test lacks programs. Install them: apt-get install ${names}`;
}

async function testRelease(release: Release, given: Options, report: Report): Promise<void> {
  const { folder, slowness, memoryMb, processors, accelerator } = given;
  report.step(`Debian ${release}`);
  let image: MachineImage | null = null;
  await report.check(`Debian ${release}: image`, async () => {
    const progress = (step: string) => report.step(`image: ${step}`);
    image = await machineImage({ release, repository: REPOSITORY, folder, progress, keep: given.keepImage });
  });
  if (image === null) return;
  const machine = await createMachine({
    image,
    folder: join(folder, `machine-${release}`),
    memoryMb,
    processors,
    accelerator,
    bootMs: PATIENCE_MS * slowness,
  });
  const setupMs = SETUP_MS * slowness;
  const patienceMs = PATIENCE_MS * slowness;
  await onMachine(machine, { name: `debian-${release}`, folder, report }, async () => {
    const guest = guestOf(machine, patienceMs);
    await runScenario({ machine, guest, report, patienceMs, setupMs });
  });
}
