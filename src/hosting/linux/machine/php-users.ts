import { messageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { LinuxLayout } from './layout.ts';
import { readRecord, recordIds } from './record.ts';

/**
 * Names of the installs whose website runs on a PHP version, also those that are set aside, sorted. Throws OperatorError if a record
 * cannot be read, because that install could run on it.
 */
export async function installsOnPhp(
  { records, aside }: Pick<LinuxLayout, 'records' | 'aside'>,
  version: string,
): Promise<string[]> {
  const names: string[] = [];
  for (const folder of [records, aside]) {
    for (const id of (await ifThere(recordIds(folder))) ?? []) {
      const record = await readRecord(folder, id).catch((cause: unknown) => {
        throw new OperatorError(`Installs on PHP ${version} are unknown: ${messageOf(cause)}.`, { cause });
      });
      if (record?.placement.phpVersion === version) names.push(record.state.name);
    }
  }
  return names.sort();
}
