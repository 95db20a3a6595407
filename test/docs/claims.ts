/** Where a command of a page is run: a file of a test, and words of it. */
export interface Proof {
  command: string;
  file: string;
  words: string;
}

/** Sections whose commands a test reads from the page and follows. */
export const FOLLOWED: Record<string, { heading: string; file: string }[]> = {
  'README.md': [{ heading: 'A tour with curl', file: 'test/docs/readme.long-test.ts' }],
  'docs/install.md': [{ heading: 'By hand', file: 'test/releases/installer.test.ts' }],
};

const MACHINE = 'test/machine/package-scenario.ts';
/** The test follows the block. */
const WAY_BACK = '--allow-downgrades';
const INSTALLER = 'test/releases/installer.test.ts';

/** The other commands of the pages. A test compares them with the pages. */
export const PROOFS: Record<string, Proof[]> = {
  'README.md': [
    {
      command: 'git clone <this repository> homeport && cd homeport',
      file: 'test/docs/tutorials.long-test.ts',
      words: 'FIRST_COMMANDS',
    },
    { command: 'npm ci && npm start', file: '.ci/npm-versions.mjs', words: 'npm start answers over HTTPS' },
    {
      command: 'npm run --silent homeport -- install create shop',
      file: 'docs/tutorials/agency.md',
      words: 'homeport install create',
    },
    { command: 'docker compose up --detach --wait', file: 'test/container/compose.ts', words: "'up', '-d'" },
    {
      command: 'docker compose exec homeport cat data/first-sign-in.txt',
      file: 'test/container/container.ts',
      words: 'first-sign-in.txt',
    },
    {
      command: 'docker compose exec homeport homeport install create shop',
      file: 'test/container/website.ts',
      words: "homeport('install', 'create', 'shop')",
    },
    { command: 'sudo npm ci', file: 'test/machine/machine-image.ts', words: "['npm', 'ci']" },
    {
      command: 'sudo npm run host:setup',
      file: 'test/machine/scenario.ts',
      words: 'sudo npm run --silent host:setup',
    },
  ],
  'docs/install.md': [
    { command: 'curl -fsSLO ADDRESS/install.sh', file: INSTALLER, words: "'--from', address()" },
    { command: 'sudo sh install.sh --from ADDRESS', file: MACHINE, words: 'sh install.sh --from' },
    { command: 'sh install.sh --from ADDRESS --archive', file: INSTALLER, words: "install('--archive')" },
    { command: 'sh install.sh --from ADDRESS --check', file: INSTALLER, words: "'--check'" },
    { command: 'homeport serve --demo', file: 'src/app/demo.long-both.test.ts', words: 'demo' },
    {
      command: 'sudo homeport host setup',
      file: 'docs/tutorials/operator.md',
      words: 'sudo homeport host setup',
    },
    { command: 'sudo homeport upgrade', file: MACHINE, words: "'sudo homeport upgrade --yes'" },
    {
      command: 'sudo homeport upgrade ./homeport_VERSION_amd64.deb',
      file: 'docs/tutorials/operator.md',
      words: 'sudo homeport upgrade --yes ./homeport_*_amd64.deb',
    },
    { command: 'sudo homeport upgrade --check', file: MACHINE, words: 'homeport upgrade --check' },
    { command: 'sudo systemctl stop homeport.socket homeport-host homeport', file: MACHINE, words: WAY_BACK },
    {
      command: 'sudo apt-get install --allow-downgrades ./homeport_FORMER_amd64.deb',
      file: MACHINE,
      words: WAY_BACK,
    },
    { command: 'sudo mv /var/lib/homeport /var/lib/homeport.newer', file: MACHINE, words: WAY_BACK },
    {
      command: 'sudo install -d -o homeport -g homeport -m 700 /var/lib/homeport',
      file: MACHINE,
      words: WAY_BACK,
    },
    {
      command:
        'sudo -u homeport homeport --config /etc/homeport/homeport.conf platform restore /mnt/backups/homeport-NAME --sealing-key /var/lib/homeport.newer/sealing.key',
      file: MACHINE,
      words: WAY_BACK,
    },
    { command: 'sudo homeport host setup', file: MACHINE, words: WAY_BACK },
  ],
};

/** Commands that no test runs. */
export const UNPROVED: Record<string, string[]> = {
  'README.md': [],
  'docs/install.md': [
    'sudo rm -rf /var/lib/homeport-upgrade /var/lib/homeport/upgrade',
    'sudo homeport host setup --services',
  ],
};
