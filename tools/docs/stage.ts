import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { anchorsOf, replaceLinks, targetPath } from './links.ts';
import { referencePages } from './reference.ts';
import { type Page, ROOT, type Section, sections } from './sections.ts';

/** Generated pages: their paths in the site and their Markdown. */
export type Written = ReadonlyMap<string, string>;

const FIRST_PAGE: Page = { source: 'tools/docs/index.md', path: 'index.md' };

/**
 * Writes the pages of the site into a folder, with links that work there: to other pages, or to copies of files of the repository.
 * @param folder is emptied first
 * @param description the OpenAPI document, from which the reference is made
 * @throws Error that names every link to a missing file or heading
 */
export function stage(folder: string, description: unknown): { navigation: Section[] } {
  rmSync(folder, { recursive: true, force: true });
  const navigation = sections();
  const pages = navigation.flatMap((section) => section.pages);
  const faults: string[] = [];
  for (const page of pages) {
    write(folder, page.path, siteMarkdown(page, pages, folder, faults));
  }
  const reference = referencePages(description);
  for (const [path, markdown] of reference) write(folder, path, markdown);
  write(folder, 'decisions/index.md', indexOf('Decisions', navigation.at(-1)?.pages ?? []));
  write(folder, FIRST_PAGE.path, siteMarkdown(FIRST_PAGE, pages, folder, faults));
  if (faults.length > 0) throw new Error(`Links that lead nowhere:\n${faults.join('\n')}`);
  return { navigation: [...navigation, referenceSection(reference)] };
}

/** The first heading of a page. */
export const titleOf = (markdown: string): string => /^# +(.+)$/m.exec(markdown)?.[1] ?? 'Untitled';

function siteMarkdown(page: Page, pages: readonly Page[], folder: string, faults: string[]): string {
  const markdown = read(page.source).replace(/<!--[\s\S]*?-->\n?/g, '');
  return replaceLinks(markdown, ({ target, anchor }, isPicture) => {
    const path = targetPath(page.source, target);
    const file = join(ROOT, path);
    if (!existsSync(file)) {
      faults.push(`${page.source}: ${target} does not exist`);
      return { target };
    }
    if (anchor !== '' && path.endsWith('.md') && !anchorsOf(read(path)).has(anchor.slice(1))) {
      faults.push(`${page.source}: ${path} has no heading ${anchor}`);
    }
    if (path === 'README.md') return { target: `${relative(page.path, 'index.md')}` };
    const linked = pages.find(({ source }) => source === path);
    if (linked !== undefined) return { target: `${relative(page.path, linked.path)}${anchor}` };
    if (statSync(file).isDirectory()) return folderLink(page, path);
    if (isPicture) {
      copy(file, join(folder, 'public', path));
      return { target: `/${path}` };
    }
    copy(file, join(folder, 'public/files', `${path}.txt`));
    return { target: `/files/${path}.txt`, after: '{target="_self"}' };
  });
}

/** Folders have no pages, apart from the decisions. */
function folderLink(page: Page, path: string): { target: string } {
  return {
    target: relative(page.path, path === 'docs/decisions' ? 'decisions/index.md' : 'architecture.md'),
  };
}

function referenceSection(reference: Written): Section {
  const pages = [...reference.keys()].map((path) => ({ source: '', path }));
  return { title: 'API reference', pages, collapsed: true };
}

function indexOf(title: string, pages: readonly Page[]): string {
  const lines = pages.map(
    ({ source, path }) => `- [${titleOf(read(source)).replace(/^Decisions: /, '')}](../${path})`,
  );
  return `# ${title}\n\nEach page gives the context of its decisions, what was decided, and what follows from it.\n\n${lines.join('\n')}\n`;
}

const relative = (from: string, to: string): string => {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
};

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function write(folder: string, path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}
