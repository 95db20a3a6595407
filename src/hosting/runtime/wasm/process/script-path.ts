const ROOT = '/wordpress';

/** The PHP file for a request, as the web server of WordPress finds it. */
export interface ScriptPath {
  /** Path below the document root. */
  script: string;
  /** What follows it in the path (`PATH_INFO`). */
  rest: string;
}

export interface PathQuestions {
  isFile(path: string): boolean;
  isFolder(path: string): boolean;
  /** Whether a program never runs, such as one among uploads. */
  isClosed(path: string): boolean;
}

/** Finds the file that answers a path: a PHP file, the `index.php` of a folder, or WordPress. */
export function scriptFor(path: string, { isFile, isFolder, isClosed }: PathQuestions): ScriptPath {
  const wordpress = { script: '/index.php', rest: '' };
  const clean = decoded(path);
  if (clean === null) return wordpress;
  const [, script, rest = ''] = /^(.*?\.php)(\/.*)?$/s.exec(clean) ?? [];
  if (script !== undefined && isFile(ROOT + script)) return isClosed(script) ? wordpress : { script, rest };
  const folder = clean.replace(/\/+$/, '');
  const index = `${folder}/index.php`;
  const isIndex = isFolder(ROOT + folder) && isFile(ROOT + index) && !isClosed(index);
  return isIndex ? { script: index, rest: '' } : wordpress;
}

/**
 * Whether the path is spelled as its files are. A disk that ignores case would find programs by names that the rules for closed programs and
 * for sign-ins do not know.
 */
export function isSpelledSo(path: string, namesIn: (folder: string) => string[]): boolean {
  const names = path.split('/').slice(1);
  return names.every((name, at) => namesIn(`/${names.slice(0, at).join('/')}`).includes(name));
}

/** Null: the path names no file. */
function decoded(path: string): string | null {
  let text: string;
  try {
    text = decodeURIComponent(path);
  } catch {
    return null;
  }
  // The edge compares paths without empty segments.
  text = text.replace(/\/{2,}/g, '/');
  const isClean = text.startsWith('/') && !text.includes('\0') && !/\/\.{1,2}(?:\/|$)/.test(text);
  return isClean ? text : null;
}
