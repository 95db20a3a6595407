import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** A page of the site. */
export interface Page {
  /** Its Markdown, from the root of the repository. */
  source: string;
  /** Where the site has it, without a leading slash and with `.md`. */
  path: string;
}

/** A group of the navigation. Titles of pages are their first headings. */
export interface Section {
  title: string;
  pages: Page[];
  /** Closed until the reader opens it. */
  collapsed?: boolean;
}

const docs = (...names: string[]): Page[] =>
  names.map((name) => ({ source: `docs/${name}.md`, path: `${name}.md` }));

/** A page from elsewhere in the repository. */
const root = (source: string, path: string): Page => ({ source, path });

const markdownIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.replace(/\.md$/, ''))
    .sort();

/** Pages of `docs/` that no section names come last among those for operators, so that none is left out. */
export function sections(): Section[] {
  const tutorials = docs('tutorials/agency', 'tutorials/operator', 'tutorials/client');
  const customers = docs('customers');
  const running = docs('install', 'embedded-host', 'container', 'linux-host', 'operations', 'configuration');
  const clients = [...docs('api', 'clients'), root('packages/client/README.md', 'client-package.md')];
  const contributing = [
    root('CONTRIBUTING.md', 'contributing.md'),
    ...docs('architecture', 'performance', 'dependencies'),
    root('SECURITY.md', 'security.md'),
    root('CHANGELOG.md', 'changelog.md'),
  ];
  const named = new Set([...customers, ...running, ...clients, ...contributing].map(({ source }) => source));
  const others = docs(...markdownIn('docs')).filter(({ source }) => !named.has(source));
  return [
    { title: 'Tutorials', pages: tutorials },
    { title: 'For customers', pages: customers },
    { title: 'For operators', pages: [...running, ...others] },
    { title: 'For API clients', pages: clients },
    { title: 'For contributors', pages: contributing },
    {
      title: 'Decisions',
      pages: docs(...markdownIn('docs/decisions').map((name) => `decisions/${name}`)),
      collapsed: true,
    },
  ];
}
