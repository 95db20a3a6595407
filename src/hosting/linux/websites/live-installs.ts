import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { InstallRecord } from '../machine/record.ts';

/** A complete install, with what frequent lookups need. */
export interface LiveInstall extends InstallRecord {
  sandbox: SandboxedInstall;
}

/** The complete installs of this host, in memory. */
export interface LiveInstalls {
  set(install: LiveInstall): void;
  delete(installId: string): void;
  get(installId: string): LiveInstall | undefined;
  byName(name: string): LiveInstall | undefined;
  ids(): string[];
}

export function createLiveInstalls(): LiveInstalls {
  const byId = new Map<string, LiveInstall>();
  const idOf = new Map<string, string>();
  return {
    set(install) {
      byId.set(install.state.id, install);
      idOf.set(install.state.name, install.state.id);
    },
    delete(installId) {
      const name = byId.get(installId)?.state.name;
      byId.delete(installId);
      if (name !== undefined && idOf.get(name) === installId) idOf.delete(name);
    },
    get: (installId) => byId.get(installId),
    byName(name) {
      const id = idOf.get(name);
      return id === undefined ? undefined : byId.get(id);
    },
    ids: () => [...byId.keys()],
  };
}
