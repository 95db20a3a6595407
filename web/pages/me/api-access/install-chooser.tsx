import { useInstalls } from '../../../api/installs.ts';
import { useFault } from '../../../components/form.tsx';
import { InstallPicker } from '../../../components/install-picker.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';

/** Some of the installs of an account, as far as the person sees them. */
export function InstallChooser({
  accountId,
  chosen,
  onChange,
}: {
  accountId: string;
  chosen: readonly string[];
  onChange(ids: string[]): void;
}) {
  const installs = useInstalls(accountId);
  const fault = useFault('install_ids');
  return (
    <>
      {fault !== undefined && <Notice tone="bad">{fault}</Notice>}
      <Loaded query={installs} what="installs">
        {(all) => <InstallPicker label="Installs" installs={all} chosen={chosen} onChange={onChange} />}
      </Loaded>
    </>
  );
}
