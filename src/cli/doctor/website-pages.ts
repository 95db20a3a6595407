import { pagesOf } from '../../app/embedded-websites.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import type { PageFault } from '../../hosting/websites/probe/visitor-probe.ts';
import { mapConcurrent } from '../../lib/concurrency.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'pages';
/** Each website may need a start of its PHP, which takes seconds and the memory of other websites. */
const MOST_WEBSITES = 25;
const SIDE_BY_SIDE = 2;

interface Probed {
  id: string;
  name: string;
  probe: () => Promise<PageFault[]>;
}

/**
 * Requests pages of the websites with WordPress from the running server, as visitors do. With more than {@link MOST_WEBSITES}, those of
 * production come first, then the oldest ones.
 */
export async function checkPages(
  { reader }: Pick<Database, 'reader'>,
  config: Pick<Config, 'dataDir' | 'edgeHttp' | 'edgeHttps'>,
  { report = () => {}, most = MOST_WEBSITES }: { report?: (state: string) => void; most?: number } = {},
): Promise<Finding[]> {
  const installs = await reader
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('status', '=', 'active')
    .orderBy((eb) => eb.case().when('environment', '=', 'production').then(0).else(1).end())
    .orderBy('seq')
    .execute();
  const websites: Probed[] = [];
  for (const install of installs) {
    const probe = await pagesOf(config, install.id);
    if (probe !== null) websites.push({ ...install, probe });
  }
  const probed = websites.slice(0, most);
  let done = 0;
  const findings = await mapConcurrent(probed, SIDE_BY_SIDE, async ({ name, probe }) => {
    const faults = (await probe()).filter(({ isMaintenance }) => !isMaintenance);
    done += 1;
    report(`${done} of ${probed.length} websites`);
    return faults.map(({ text }) => failing(name, text));
  });
  return judged(probed.length, websites.length, findings.flat());
}

function failing(name: string, text: string): Finding {
  return problem(
    CHECK,
    `${name}: ${text}.`,
    `Correct the files of the website, or restore a backup: "homeport backup list --install ${name}", then "homeport backup restore ID".`,
  );
}

/** Adds how many websites were requested, unless all are named already. Pure. */
export function judged(probed: number, all: number, failures: Finding[]): Finding[] {
  if (probed === 0) return [];
  const rest =
    all === probed ? '' : ` ${all - probed} more were not requested: doctor requests ${probed} at most.`;
  if (failures.length > 0) {
    return rest === '' ? failures : [...failures, ok(CHECK, rest.trim())];
  }
  const what =
    probed === 1
      ? 'The pages of 1 website with WordPress work.'
      : `The pages of ${probed} websites with WordPress work.`;
  return [ok(CHECK, `${what}${rest}`)];
}
