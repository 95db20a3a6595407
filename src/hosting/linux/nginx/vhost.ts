import type { InstallState } from '../../contract/install-state.ts';
import type { Placement } from '../machine/record.ts';

/** A website as the web server is told of it. */
export interface Vhost {
  state: InstallState;
  /** The Unix user that its PHP runs as and its files belong to. */
  uid: number;
  /** The core that its document root links to. */
  wordpressVersion: string;
  /** Missing data: visitors see that the website is closed. */
  lost?: string[] | undefined;
  /** It is being moved, and takes no changes. */
  held?: Placement['held'];
}
