/** A defect in a view costs that view, not the panel: it says so and can be loaded again. */
import { Component, type ComponentChildren, type VNode } from 'preact';
import { t } from '../../i18n';
import { Failed } from './states';

interface Props {
  children: ComponentChildren;
}
interface State {
  broken: boolean;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { broken: false };

  static override getDerivedStateFromError(): State {
    return { broken: true };
  }

  override componentDidCatch(error: unknown): void {
    console.error('CashCode panel:', error);
  }

  override render(): VNode {
    if (!this.state.broken) {
      return <>{this.props.children}</>;
    }
    return (
      <div class="cc-broken">
        <Failed
          sentence={t('This view failed to show. Your chats are safe on the server.')}
          action={t('Reload')}
          onRetry={() => this.setState({ broken: false })}
        />
      </div>
    );
  }
}
