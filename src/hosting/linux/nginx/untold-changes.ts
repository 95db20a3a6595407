import type { EdgeControl } from './control-client.ts';

/** Changes on disk that nginx does not know yet. If a call fails, the next attempt repeats it. */
export interface UntoldChanges {
  install(id: string): void;
  names(): void;
  purge(installId: string): void;
  /** Tells nginx everything. */
  tell(): Promise<void>;
}

export function createUntoldChanges(control: EdgeControl): UntoldChanges {
  const installs = new Set<string>();
  const purges = new Set<string>();
  let names = false;
  return {
    install: (id) => installs.add(id),
    names() {
      names = true;
    },
    purge: (id) => purges.add(id),
    async tell() {
      for (const id of installs) {
        await control.installChanged(id);
        installs.delete(id);
      }
      if (names) await control.namesChanged();
      names = false;
      for (const id of purges) {
        await control.purge(id);
        purges.delete(id);
      }
    },
  };
}
