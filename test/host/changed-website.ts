import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { createDatabases } from '../../src/hosting/linux/daemons/databases.ts';
import type { LinuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import type { ChangedWebsite } from '../../src/hosting/websites/changes/changed-website.fixture.ts';
import { ifThere } from '../../src/lib/if-there.ts';
import { activatePlugins } from './plugin-source.ts';

/** A website of a Linux host, for cases that both hosts must pass. */
export function changedWebsite({
  layout,
  install,
  host,
  ...given
}: Pick<ChangedWebsite, 'files' | 'page'> & {
  layout: LinuxLayout;
  install: InstallState;
  host: ChangedWebsite['host'] & { purge(install: InstallState, cache: 'object'): Promise<void> };
}): ChangedWebsite {
  return {
    ...given,
    host,
    install: { ...install, wordpressVersion: install.wordpressVersion ?? '' },
    coreOf: layout.coreOf,
    updateJournal: layout.updateOf(install.id),
    async activate(files) {
      await activatePlugins(layout, install, files);
      // The object cache does not see it.
      await host.purge(install, 'object');
    },
    async option(name) {
      const rows = await createDatabases({ layout }).query(
        `hp_${install.id.replaceAll('-', '')}`,
        `SELECT option_value FROM wp_options WHERE option_name = '${name}'`,
      );
      return rows[0]?.[0] ?? '';
    },
    read: (path) => ifThere(readFile(join(layout.htdocsOf(install.id), 'wp-content', path), 'utf8')),
  };
}
