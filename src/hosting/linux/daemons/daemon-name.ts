import { PermanentHostError } from '../../contract/errors.ts';

/** Checks a name used in files, units and cgroups. Throws a {@link PermanentHostError}. */
export function checkedDaemonName(name: string): string {
  if (!/^[a-z0-9-]{1,100}$/.test(name)) {
    throw new PermanentHostError(`"${name}" cannot be the name of a daemon`);
  }
  return name;
}
