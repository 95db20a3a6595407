import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormError } from '../../api/failure.ts';
import { Button } from '../../components/button.tsx';
import { showFailure } from '../../components/toast.tsx';

interface LinkButtonProps {
  children: ReactNode;
  /** The advice if the browser blocks the tab: "open the database again". */
  again: string;
  /** Creates the link. */
  createLink(): Promise<{ url: string }>;
}

/** A button that opens a single-use link in a new tab. */
export function LinkButton({ children, again, createLink }: LinkButtonProps) {
  const opening = useMutation({
    async mutationFn(tab: Window) {
      const { url } = await createLink();
      tab.location.replace(url);
    },
    onError(error, tab) {
      tab.close();
      showFailure(error);
    },
  });

  function openTab(): void {
    // Within the click, because browsers block tabs that open later. It gets no way back to this page.
    const tab = window.open('', '_blank');
    if (tab === null) {
      showFailure(
        new FormError(`Your browser blocked the new tab. Allow pop-ups for this page, then ${again}.`),
      );
      return;
    }
    tab.opener = null;
    opening.mutate(tab);
  }

  return (
    <Button pending={opening.isPending} onClick={openTab}>
      {children} <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> in a new tab</span>
    </Button>
  );
}
