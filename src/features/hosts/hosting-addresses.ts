import type { ListenAddress } from '../../config/config.ts';

/** Where websites, and SFTP, are listened for. */
export interface HostingAddresses {
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  ssh: ListenAddress;
}
