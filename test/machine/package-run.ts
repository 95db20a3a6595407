import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Release } from './base-system.ts';
import { runFleetScenario } from './fleet-scenario.ts';
import { guestOf } from './guest.ts';
import { onMachine } from './on-machine.ts';
import { packageMachine } from './package-machine.ts';
import { type HostKind, runPackageScenario } from './package-scenario.ts';
import type { DatabaseKind, StepOptions } from './package-steps.ts';
import type { Report } from './report.ts';
import { type TestPackages, testPackages } from './test-packages.ts';
import { runKillScenario } from './upgrade-kills.ts';

export interface PackageRun {
  releases: readonly Release[];
  hosts: readonly HostKind[];
  /** Instead of the whole scenario, kills upgrades of the embedded host with these databases. */
  killed: readonly DatabaseKind[];
  /** Where machines, packages and evidence of failures are kept. */
  folder: string;
  /** The repository whose last commit is tested. */
  repository: string;
}

const BOOT_MS = 120_000;
/** For a command, which may install packages. */
const PATIENCE_MS = 900_000;
const PROGRAM = '/usr/bin/homeport';

/** Tests the Debian package on each release with each kind of host. */
export async function testPackage(given: PackageRun, report: Report): Promise<void> {
  const { releases, hosts, killed, folder, repository } = given;
  const packages = await makePackages(repository, folder, report);
  if (packages === null) return;
  const parts = { report, packages };
  for (const release of releases) {
    const on = (name: string, scenario: (options: StepOptions) => Promise<void>) =>
      onPackageMachine({ release, folder, name: `package-${release}-${name}`, report }, scenario);
    for (const database of killed)
      await on(`kills-${database}`, (options) => runKillScenario({ ...options, ...parts, database }));
    for (const host of killed.length > 0 ? [] : hosts)
      await on(host, (options) => runPackageScenario(host, { ...options, ...parts }));
  }
}

/** Tests two Linux hosts of one platform on each release. */
export async function testFleet(
  { releases, folder, repository }: Pick<PackageRun, 'releases' | 'folder' | 'repository'>,
  report: Report,
): Promise<void> {
  const packages = await makePackages(repository, folder, report);
  if (packages === null) return;
  for (const release of releases) {
    const shared = join(folder, `fleet-${release}-shared`);
    await rm(shared, { recursive: true, force: true });
    await mkdir(shared, { recursive: true });
    const on = (name: string, scenario: (options: StepOptions) => Promise<void>) =>
      onPackageMachine({ release, folder, name: `fleet-${release}-${name}`, report, shared }, scenario);
    await on('web1', (web1) => on('web2', (web2) => runFleetScenario({ web1, web2, report, packages })));
  }
}

async function makePackages(
  repository: string,
  folder: string,
  report: Report,
): Promise<TestPackages | null> {
  let packages: TestPackages | null = null;
  await report.check('three packages are made', async () => {
    const progress = (step: string) => report.step(step);
    packages = await testPackages(repository, join(folder, 'test-packages'), progress);
  });
  return packages;
}

interface OnPackageMachine {
  release: Release;
  folder: string;
  name: string;
  report: Report;
  /** A folder that both machines have. */
  shared?: string;
}

async function onPackageMachine(
  { release, folder, name, report, shared }: OnPackageMachine,
  scenario: (options: StepOptions) => Promise<void>,
): Promise<void> {
  report.step(name);
  const machine = await packageMachine({ release, folder, name, bootMs: BOOT_MS, shared });
  const guest = guestOf(machine, PATIENCE_MS, PROGRAM);
  await onMachine(machine, { name, folder, report }, () =>
    scenario({ machine, guest, patienceMs: PATIENCE_MS }),
  );
  await machine.keepDownloads();
}
