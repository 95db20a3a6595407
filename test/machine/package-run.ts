import { join } from 'node:path';
import type { Release } from './base-system.ts';
import { guestOf } from './guest.ts';
import { onMachine } from './on-machine.ts';
import { packageMachine } from './package-machine.ts';
import { type HostKind, runPackageScenario } from './package-scenario.ts';
import type { Report } from './report.ts';
import { type TestPackages, testPackages } from './test-packages.ts';

export interface PackageRun {
  releases: readonly Release[];
  hosts: readonly HostKind[];
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
  const { releases, hosts, folder, repository } = given;
  let packages: TestPackages | null = null;
  await report.check('three packages are made', async () => {
    const progress = (step: string) => report.step(step);
    packages = await testPackages(repository, join(folder, 'test-packages'), progress);
  });
  for (const release of releases) {
    for (const host of hosts) {
      if (packages === null) return;
      const name = `package-${release}-${host}`;
      report.step(`Debian ${release}, the ${host} host`);
      const machine = await packageMachine({ release, folder, name, bootMs: BOOT_MS });
      const guest = guestOf(machine, PATIENCE_MS, PROGRAM);
      const options = { machine, guest, report, packages, patienceMs: PATIENCE_MS };
      await onMachine(machine, { name, folder, report }, () => runPackageScenario(host, options));
      await machine.keepDownloads();
    }
  }
}
