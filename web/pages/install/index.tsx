import { Page } from '../../components/page.tsx';
export function InstallPage(_: { installId: string; section: string }) {
  return <Page title="InstallPage">…</Page>;
}
