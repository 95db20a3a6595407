export function dnsProviderOf(_ns: string[]): string {
  throw new Error('not built yet');
}
