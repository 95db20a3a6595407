// Types of the optional packages, whose own do not resolve, and of what Node has and its types lack.

declare module '@php-wasm/node-8-4' {
  /** Loads Emscripten's program of PHP for this Node. */
  export function getPHPLoaderModule(): Promise<unknown>;
  /** Whether this Node can suspend WebAssembly (JavaScript Promise Integration). */
  export function jspi(): Promise<boolean>;
}

declare module '@php-wasm/universal' {
  export const __private__dont__use: unique symbol;

  export interface PHPRunOptions {
    relativeUri?: string;
    protocol?: string;
    method?: string;
    headers?: Record<string, string>;
    body?: Uint8Array;
    $_SERVER?: Record<string, string>;
    scriptPath?: string;
    code?: string;
  }

  export interface StreamedPHPResponse {
    readonly stdoutText: Promise<string>;
    readonly exitCode: Promise<number>;
  }

  export class PHP {
    constructor(runtimeId: number);
    readonly [__private__dont__use]: import('./emscripten.ts').EmscriptenRuntime;
    runStream(request: PHPRunOptions): Promise<StreamedPHPResponse>;
    /** Runs a program as on a command line. Nothing else can run in this PHP, before or after. */
    cli(
      words: readonly string[],
      options: { env: Readonly<Record<string, string>> },
    ): Promise<StreamedPHPResponse>;
    setSapiName(name: string): Promise<void>;
    setSpawnHandler(handler: (command: string, parameters: string[]) => unknown): Promise<void>;
    setCommandSpawnHandler(
      command: string,
      handler: (command: string, parameters: string[]) => unknown,
    ): void;
    readFileAsText(path: string): string;
    writeFile(path: string, content: string): void;
    isFile(path: string): boolean;
    listFiles(path: string): string[];
    isDir(path: string): boolean;
    chdir(path: string): void;
  }

  export function loadPHPRuntime(loader: unknown, options: Record<string, unknown>): Promise<number>;
}

declare namespace WebAssembly {
  class Module {
    // Otherwise any object would be one.
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }
  class Instance {
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  type Imports = Record<string, Record<string, unknown>>;
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Imports): Promise<Instance>;
}
