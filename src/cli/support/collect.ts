import { givenSettings, readConfig } from '../../config/config.ts';
import { KNOWN_MIGRATIONS, pendingMigrations } from '../../database/migrate.ts';
import { messageOf } from '../../lib/error-message.ts';
import { PROGRAM_VERSION } from '../../lib/program-version.ts';
import { examineDatabase } from '../doctor/database.ts';
import { examine } from '../doctor/examine.ts';
import { type Finding, problem } from '../doctor/finding.ts';
import { createQuietLog } from '../platform/quiet-log.ts';
import { versionLine } from '../platform/version.ts';
import { countsOf, failedJobs, hostStates } from './platform-facts.ts';
import { recentLogs } from './recent-logs.ts';
import { redactor } from './secrets.ts';
import { secretFilesOf, secretsOf, shownSettings } from './shown-settings.ts';

/** A file of a support bundle. */
export interface SupportFile {
  name: string;
  /** What it has, for the user who decides about it. */
  about: string;
  text: string;
}

/** Where a bundle comes from. */
export interface SupportSources {
  environment: Readonly<Record<string, string | undefined>>;
  /** The file of `--config`. */
  configFile: string | undefined;
  /** Files of logs. */
  logs: readonly string[];
}

/** Everything that goes into a support bundle, without secrets. What cannot be read says why, so that broken platforms have one, too. */
export async function collectSupport({
  environment,
  configFile,
  logs,
}: SupportSources): Promise<SupportFile[]> {
  const texts = givenSettings(environment, configFile);
  const files: SupportFile[] = [
    { name: 'version.txt', about: 'version, commit, Node and system', text: versionText() },
    { name: 'settings.txt', about: 'settings that are not the default', text: shownSettings(texts) },
  ];
  const findings: Finding[] = [];
  try {
    const config = readConfig({ ...environment }, configFile);
    const log = await createQuietLog({ logLevel: 'silent' });
    findings.push(...(await examine(config, { file: configFile, log })));
    files.push(...(await databaseFilesOr(findings, config, log)));
  } catch (error) {
    findings.push(problem('configuration', messageOf(error), 'Correct it.'));
  }
  files.push({ name: 'doctor.json', about: 'findings of "homeport doctor"', text: json(findings) });
  for (const { name, source, text } of await recentLogs(logs)) {
    files.push({ name, about: `end of the ${source}`, text });
  }
  const redact = redactor(secretsOf(texts, secretFilesOf(texts)));
  return files.map(({ name, about, text }) => ({ name, about, text: redact(text) }));
}

function versionText(): string {
  return `${versionLine()}\n${PROGRAM_VERSION}\nNode ${process.version}, ${process.platform} ${process.arch}\n`;
}

/** Those that can be read. What cannot be read is another finding. */
async function databaseFilesOr(
  findings: Finding[],
  ...of: Parameters<typeof examineDatabase>
): Promise<SupportFile[]> {
  try {
    return await databaseFiles(...of);
  } catch (error) {
    findings.push(
      problem('database', `It could not be read: ${messageOf(error)}`, 'See the findings above.'),
    );
    return [];
  }
}

async function databaseFiles(...of: Parameters<typeof examineDatabase>): Promise<SupportFile[]> {
  const { database, current } = await examineDatabase(...of);
  if (database === null) return [];
  try {
    const pending = await pendingMigrations(database);
    const schema = { dialect: database.dialect, known: KNOWN_MIGRATIONS.at(-1) ?? null, pending };
    const files: SupportFile[] = [
      { name: 'schema.json', about: 'version of the schema of the database', text: json(schema) },
    ];
    if (!current) return files;
    return [
      ...files,
      {
        name: 'counts.json',
        about: 'numbers of accounts, installs, jobs and others',
        text: json(await countsOf(database)),
      },
      { name: 'hosts.json', about: 'hosts and whether they answer', text: json(await hostStates(database)) },
      {
        name: 'failed-jobs.json',
        about: 'the last jobs that failed, with their errors',
        text: json(await failedJobs(database)),
      },
    ];
  } finally {
    await database.close();
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
