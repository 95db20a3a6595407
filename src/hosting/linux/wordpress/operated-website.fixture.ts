import { linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import type { OperatedWebsite } from '../../websites/operated-website.fixture.ts';
import { runInWordPress, startWordPress, startWordPressMachine } from './machine.fixture.ts';

/** A website of the Linux host, with its own database server. */
export async function startOperatedWebsite(): Promise<OperatedWebsite> {
  const machine = await startWordPressMachine();
  try {
    const { websites, version } = await startWordPress(machine);
    const { install, database } = await machine.newInstall(version);
    const site = { primaryHostname: 'shop.test', secure: false, database };
    await websites.makeFiles(install, site);
    await websites.fillDatabase(install, database, { ...site, title: 'The shop' });
    await machine.serve(install);
    return {
      id: install.id,
      runtime: linuxRuntime(machine.layout, install, []),
      version,
      root: machine.layout.htdocsOf(install.id),
      dropin: 'object-cache.php',
      hasLinkedThemes: true,
      inWordPress: (code) => runInWordPress(machine, install, code),
      stop: () => machine.stop(),
    };
  } catch (error) {
    await machine.stop();
    throw error;
  }
}
