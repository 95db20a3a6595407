import { truncate } from '../../../components/truncate.ts';

/** Pages to purge, and why lines of the field are not their addresses. */
export interface PageAddresses {
  /** Paths with queries. */
  paths: string[];
  /** One sentence for each invalid line. */
  errors: string[];
}

/** Limits the length of lines in messages. */
const LONGEST_LINE = 80;

/** Reads addresses from lines: paths, or URLs with one of the host names. Accepts a URL without its scheme, and removes duplicates. */
export function readAddresses(text: string, hostnames: readonly string[]): PageAddresses {
  const paths = new Set<string>();
  const errors: string[] = [];
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const address = parseAddress(line);
    const shown = truncate(line, LONGEST_LINE);
    if (address === null) errors.push(`${shown} is not the address of a page. Enter a path such as /news/.`);
    else if (address.hostname === null || hostnames.some((name) => covers(name, address.hostname))) {
      paths.add(address.path);
    } else errors.push(`${shown} is not an address of this website.`);
  }
  return { paths: [...paths], errors };
}

/** `hostname`: null for a path alone. */
function parseAddress(line: string): { hostname: string | null; path: string } | null {
  const isWhole = /^(https?:)?\/\//i.test(line);
  const isPath = !isWhole && line.startsWith('/');
  // The first segment of a URL without its scheme has a dot.
  if (!isWhole && !isPath && !/^[^\s/?#]+\.[^\s/?#]/.test(line)) return null;
  try {
    const { hostname, pathname, search } = new URL(
      isWhole || isPath ? line : `//${line}`,
      'https://a.invalid',
    );
    return { hostname: isPath ? null : hostname, path: pathname + search };
  } catch {
    return null;
  }
}

/** The `*` of a domain stands for one label. */
function covers(domain: string, hostname: string | null): boolean {
  return domain === (domain.startsWith('*.') ? hostname?.replace(/^[^.]+/, '*') : hostname);
}
