import { randomBytes } from 'node:crypto';
import { systemRandomness } from '../../../lib/ids.ts';
import { removeHome } from '../isolation/folders.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { UnixUsers } from '../isolation/unix-users.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';

/** Temporary websites for work in the sandbox: a Unix user, and a name for its home. */
export interface ScratchWebsites {
  /** Runs `work` with a new one, and removes it in any case. First removes leftovers of a killed run of the same `kind`. */
  use<Result>(
    made: { php: PhpRuntime; wordpressVersion: string },
    work: (install: SandboxedInstall) => Promise<Result>,
  ): Promise<Result>;
}

export interface ScratchWebsitesOptions {
  layout: LinuxLayout;
  users: UnixUsers;
  /** Purpose: names begin with `homeport-<kind>-`. The caller must use only one at a time. */
  kind: string;
  /** Removes what `work` has made besides the home. */
  undo?(name: string): Promise<void>;
}

export function createScratchWebsites(options: ScratchWebsitesOptions): ScratchWebsites {
  const { layout, users, undo } = options;
  const prefix = `homeport-${options.kind}-`;

  async function make(made: { php: PhpRuntime; wordpressVersion: string }): Promise<SandboxedInstall> {
    const id = systemRandomness.uuid();
    const name = `${prefix}${randomBytes(4).toString('hex')}`;
    const ids = await users.ensure({
      installId: id,
      name,
      home: layout.homeOf(id),
      shell: '/usr/sbin/nologin',
    });
    return { id, name, ...ids, ...made };
  }

  async function remove({ id, name }: { id: string; name: string }): Promise<void> {
    await undo?.(name);
    await removeHome(layout, id);
    await users.remove(id);
  }

  async function removeLeftOvers(): Promise<void> {
    for (const { installId, name } of await users.list()) {
      if (name.startsWith(prefix)) await remove({ id: installId, name });
    }
  }

  return {
    async use(made, work) {
      await removeLeftOvers();
      const install = await make(made);
      try {
        return await work(install);
      } finally {
        await remove(install);
      }
    },
  };
}
