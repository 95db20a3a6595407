import type { FileHandle } from 'node:fs/promises';

/**
 * The engine that runs and confines one website: the small interface that operations in hosting/websites build on. `runtime/linux` runs a
 * website with Debian's daemons, `runtime/wasm` with PHP as WebAssembly. An operation knows no engine, and a runtime knows nothing of the
 * application that the website runs.
 *
 * Everything in a website belongs to its owner, who can change it at any moment and may be hostile: its code runs in scripts, too, and
 * prints what it likes. A runtime never follows a link of the website, and gives no program more rights than the website has.
 */
export interface InstallRuntime extends Programs, Files {}

export interface Programs {
  /**
   * Runs a script of the platform's PHP library with the user, the sandbox and the PHP of the website. Resolves however the script ended.
   * Rejects only with the reason of `signal`, or if the script could not be started, which a retry can change.
   */
  runScript(run: ScriptRun, signal?: AbortSignal): Promise<ScriptEnd>;
}

export interface ScriptRun {
  /** Name of a file in hosting/wordpress/php. It finds `STDIN`, `STDOUT`, `STDERR` and `$argv` as on a command line. */
  script: string;
  args?: readonly string[];
  /** Its standard input; empty if left out. Secrets belong here, because users of the machine can read arguments. */
  input?: string;
  environment?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  timeoutMs: number;
  /** Bytes. A script that writes more is ended; without an effect with {@link take}. */
  mostOutput: number;
  /**
   * Takes its output while it runs, in pieces that begin and end anywhere; `stdout` is then empty. The script waits for the promise, and is
   * ended if that rejects. Such a script runs beside the pages of the website.
   */
  take?(chunk: Buffer): void | Promise<void>;
  /** Without it, the script reaches the website's database and files alone, and its mail is dropped as if it were sent. Default: true. */
  network?: boolean;
}

export interface ScriptEnd {
  stdout: string;
  /** Includes errors of PHP. Names the limit if the script exceeded one. */
  stderr: string;
  /** 255 after a fatal error of PHP. Null: the script exceeded a limit and was ended. */
  exit: number | null;
}

/** `root`: the document root. `private`: the folder beside it that visitors never reach. */
export type WebsiteFolder = 'root' | 'private';

export interface Files {
  /**
   * When entries of a folder last changed their content, as texts that can only be compared; null for a missing one. `path`: names of
   * folders below, without links; if one is a link, every entry is missing.
   */
  changedAt(
    folder: WebsiteFolder,
    path: readonly string[],
    names: readonly string[],
  ): Promise<(string | null)[]>;
  /** The last bytes of the log in which the website's PHP notes its errors, as text; empty without one. */
  endOfErrorLog(bytes: number): Promise<string>;
}

/** Records of the events of a website. Beside its runtime, because logs of all websites are read all the time, and running programs needs more. */
export interface Records {
  /** The folder of its logs. The host alone writes there, and the website reads it at most. Missing before the website and after it. */
  readonly logs: string;
  /**
   * Opens the log in which the website's PHP notes its errors, or the one that it replaced. Null without one. Neither a link nor a pipe in
   * its place is followed or waited for; the caller closes it, and asks whether it is a file.
   */
  openErrorLog(which: ErrorLog): Promise<FileHandle | null>;
}

/** `former`: the log that was put aside when it was long enough. */
export type ErrorLog = 'present' | 'former';
