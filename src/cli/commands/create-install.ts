import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { OPERATOR_CALLER } from '../../access/caller.ts';
import type { Services } from '../../app/services.ts';
import type { Environment } from '../../database/tables/installs.ts';
import { RUNTIMES, type Runtime } from '../../hosting/contract/install-state.ts';
import { Conflict, UpstreamFailed } from '../../lib/failures.ts';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import type { Platform } from '../../platform/platform.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson } from '../terminal/output.ts';
import { untilReported } from './first-report.ts';
import { namedAccount } from './named-account.ts';

interface Options {
  account?: string;
  site?: string;
  environment?: string;
  runtime?: Runtime;
  php?: string;
  json?: boolean;
}

export function addCreateInstall(install: Command): void {
  install
    .command('create')
    .summary('create an install, and a link that signs in to its WordPress')
    .description(
      'create an install and wait until its website answers, then print its address. With WordPress, also print a link that signs in ' +
        'once, within 60 seconds ("homeport install login" makes another one). A running server does the work, otherwise this ' +
        'command does',
    )
    .argument('<name>', 'its name, and the first label of its default domain')
    .option('--account <account>', 'the account: its name or id. Optional if there is only one')
    .option('--site <site>', 'a site of the account that it belongs to: its name or id')
    .option('--environment <environment>', 'its place in the site: production, staging or development')
    .addOption(
      new Option(
        '--runtime <runtime>',
        'wordpress, or static for a website of files; default: the setting HOMEPORT_INSTALL_RUNTIME',
      ).choices(RUNTIMES),
    )
    .option('--php <version>', 'a PHP version that the host offers, such as 8.4; default: the newest')
    .option(
      '--json',
      'print JSON when it is done: job_id, install_id, install_name, php_version, wordpress_version, url, sign_in (url, user, ' +
        'expires_at, or null)',
    )
    .addHelpText(
      'after',
      '\nExample:\n  homeport install create shop\n  homeport install create brochure --runtime static\n' +
        '  homeport install create shopstg --site "Harbour Shop" --environment staging',
    )
    .action(createInstall);

  install
    .command('retry')
    .summary('try again to create an install that failed')
    .description(
      'create the website of an install again, after its creation failed, and wait for the result. Remove the cause first ' +
        '("homeport operation list --status failed", "homeport doctor"). A running server does the work, otherwise this command does',
    )
    .argument('<name>', 'the install')
    .option('--json', 'print JSON when it is done: as "install create"')
    .addHelpText('after', '\nExample:\n  homeport install retry shop')
    .action(retryInstall);
}

async function createInstall(name: string, options: Options, command: Command): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { config } = platform;
    await requireName(name);
    const account = await accountOf(services, options.account);
    // Named, so that a machine without WordPress says why instead of making another kind of website.
    const runtime = options.runtime ?? (config.host === 'embedded' ? config.installRuntime : null);
    await requireNew(name, platform);
    const { id, operationId } = await services.installs.createAsOperator(
      {
        name,
        account_id: account.id,
        runtime,
        php_version: options.php ?? null,
        ...(await placeOf(platform, account, options)),
      },
      async () => null,
    );
    await untilCreated({ id, name, jobId: operationId }, options.json === true, platform, services);
  });
}

async function retryInstall(name: string, { json }: Pick<Options, 'json'>, command: Command): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { requireNamed } = await import('../../features/websites/installs/requested-website.ts');
    const { id, status } = await requireNamed(platform.database.reader, name);
    if (status !== 'failed') {
      throw new OperatorError(
        `The install "${printable(name)}" is ${status}; only a failed one can be tried again.`,
      );
    }
    const operationId = await services.websiteRetry.create(OPERATOR_CALLER, id);
    await untilCreated({ id, name, jobId: operationId }, json === true, platform, services);
  });
}

/** Says what to do with an install of this name that is there already. */
async function requireNew(name: string, { database }: Platform): Promise<void> {
  const { findWebsite } = await import('../../features/websites/installs/website-store.ts');
  const present = await findWebsite(database.reader, { name });
  if (present === undefined) return;
  throw new OperatorError(
    present.status === 'failed'
      ? `The install ${name} exists, and its creation failed. ${whatNext(name)}`
      : `The install ${name} exists already and is ${present.status}. See it with "homeport install show ${name}".`,
  );
}

const whatNext = (name: string) =>
  `Try again with "homeport install retry ${name}", or delete it with "homeport install delete ${name}".`;

async function untilCreated(
  install: { id: string; name: string; jobId: string },
  json: boolean,
  platform: Platform,
  services: Services,
): Promise<void> {
  const { name, jobId } = install;
  const words = { title: `Creating ${name}`, subject: `The creation of ${name}` };
  const ended = await waitForJob(jobId, words, platform, services);
  if (ended === undefined) return;
  if (ended.state !== 'succeeded') {
    throw new OperatorError(
      ended.error === null
        ? `${name} could not be created: it was deleted meanwhile.`
        : `${name} could not be created: ${ended.error} ${whatNext(name)}`,
    );
  }
  await printCreated(install, json, platform, services);
}

async function printCreated(
  { id, name, jobId }: { id: string; name: string; jobId: string },
  json: boolean,
  { config, clock, database }: Platform,
  services: Services,
): Promise<void> {
  const { findWebsite } = await import('../../features/websites/installs/website-store.ts');
  const website = await findWebsite(database.reader, { id });
  const find = () => services.connections.of({ id, name, primary_domain: null });
  // The embedded host reports nothing: the settings have its addresses.
  const connection =
    config.host === 'linux' ? await untilReported(find, { clock, sleep: (ms) => sleep(ms) }) : await find();
  const wordpress = website?.wordpress_version ?? null;
  const signIn = wordpress === null ? null : await signInOf(name, services);
  const url = connection?.website_url ?? null;
  if (json) {
    const login = signIn && 'url' in signIn ? signIn : null;
    return printJson({
      job_id: jobId,
      install_id: id,
      install_name: name,
      php_version: website?.php_version ?? null,
      wordpress_version: wordpress,
      url,
      sign_in: login && { url: login.url, user: login.user, expires_at: login.expiresAt },
    });
  }
  process.stdout.write(`${name} is ready${url === null ? '' : `: ${url}`}\n`);
  if (signIn === null) return;
  if ('url' in signIn) {
    process.stdout.write(
      `Sign in to WordPress as ${printable(signIn.user)}, once and within 60 seconds:\n  ${signIn.url}\n`,
    );
  } else process.stderr.write(`No link to sign in could be created: ${printable(signIn.reason)}\n`);
  process.stdout.write(withOwnCommand(`For another link: homeport install login ${name}\n`));
}

/** The install exists already, so the command only prints a failure. */
async function signInOf(name: string, { loginLinks }: Services) {
  try {
    return await loginLinks.createAsOperator(name, null);
  } catch (error) {
    if (error instanceof Conflict || error instanceof UpstreamFailed) return { reason: error.message };
    throw error;
  }
}

async function requireName(name: string): Promise<void> {
  const { INSTALL_NAME_PATTERN } = await import('../../features/websites/installs/schema.ts');
  if (new RegExp(INSTALL_NAME_PATTERN).test(name)) return;
  throw new OperatorError(
    `"${name}" cannot be the name of an install. Choose lower-case letters, digits and hyphens.`,
  );
}

/** The site and the environment that the options name. */
async function placeOf(
  { database }: Platform,
  account: { id: string; name: string },
  { site, environment }: Options,
): Promise<{ site_id?: string; environment?: Environment }> {
  const { ENVIRONMENTS } = await import('../../features/websites/installs/schema.ts');
  const known = ENVIRONMENTS.find((one) => one === environment);
  if (environment !== undefined && known === undefined) {
    throw new OperatorError(`"${environment}" is no environment. Choose one of ${ENVIRONMENTS.join(', ')}.`);
  }
  const place = known === undefined ? {} : { environment: known };
  if (site === undefined) return place;
  const { sitesOfAccount } = await import('../../features/websites/sites/store.ts');
  const id = parseUuid(site);
  const all = await sitesOfAccount(database.reader, account.id);
  const meant = all.filter((one) => (id === undefined ? one.name === site : one.id === id));
  const [found] = meant;
  if (found !== undefined && meant.length === 1) return { ...place, site_id: found.id };
  throw new OperatorError(
    found === undefined
      ? `There is no site ${id ?? `"${site}"`} in ${account.name}.`
      : `${account.name} has ${meant.length} sites named "${site}". Use the id of one.`,
  );
}

async function accountOf({ accounts }: Services, named: string | undefined) {
  const all = await accounts.listAll();
  if (named !== undefined) return namedAccount(all, named);
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  throw new OperatorError(
    only === undefined
      ? 'There is no account yet. Create one with "homeport account create".'
      : 'There are several accounts. Name one with --account ("homeport account list").',
  );
}
