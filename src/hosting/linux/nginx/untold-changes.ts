import type { EdgeControl } from './control-client.ts';

/** Changes on disk that nginx does not know yet. If a call fails, the next attempt repeats it. */
export interface UntoldChanges {
  install(id: string): void;
  names(): void;
  routes(): void;
  purge(installId: string): void;
  /** Tells nginx everything. */
  tell(): Promise<void>;
}

type Told = Pick<EdgeControl, 'installChanged' | 'namesChanged' | 'routesChanged' | 'purge'>;

export function createUntoldChanges(control: Told): UntoldChanges {
  const installs = new Set<string>();
  const names = new Set<'names'>();
  const routes = new Set<'routes'>();
  const purges = new Set<string>();
  return {
    install: (id) => installs.add(id),
    names: () => names.add('names'),
    routes: () => routes.add('routes'),
    purge: (id) => purges.add(id),
    async tell() {
      await tellAll(installs, control.installChanged);
      await tellAll(names, control.namesChanged);
      await tellAll(routes, control.routesChanged);
      await tellAll(purges, control.purge);
    },
  };
}

/** Forgets each change before nginx is told of it, because the same change may come again meanwhile. */
async function tellAll<Change>(
  changes: Set<Change>,
  tellOne: (change: Change) => Promise<void>,
): Promise<void> {
  for (const change of [...changes]) {
    changes.delete(change);
    try {
      await tellOne(change);
    } catch (error) {
      changes.add(change);
      throw error;
    }
  }
}
