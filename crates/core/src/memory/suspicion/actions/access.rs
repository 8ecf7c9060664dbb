//! Agents that may act without asking, and files open to everybody.
//!
//! Words such as `without confirmation` count only beside a command or a permission.

use super::super::action::{Action, each, pairs};
use super::super::words::{Plain, Words};
use crate::text::{clip, clip_start};

pub(super) fn skipped_permissions(plain: Plain<'_>) -> Vec<Action> {
    const OPTIONS: Words = Words(
        "--dangerously-*|dangerously-skip-permissions|bypasspermissions|--yolo|danger-full-access|\
        --allow-all-tools|bash(*)|bash(:*)|chmod -r 777|chmod 777 /|chmod 777 -r|chmod -r a+rwx|nopasswd|\
        \"allow\": [\"*\"]|-v /:/host|-v /:/mnt|approval_policy=never|approval_policy = \"never\"|\
        approval_policy = never|--ask-for-approval never|--sandbox none",
    );
    let about_commands = |action: &Action| {
        let from = action.range.start - clip_start(&plain[..action.range.start], 100).len();
        COMMANDS.is_in(clip(&plain[from..], 240))
    };
    let unasked = pairs(plain, WITHOUT, ASKING, 24).into_iter().map(|action| Action::at(action.range));
    let unasked = unasked.chain(each(UNASKED, plain)).filter(about_commands);
    each(OPTIONS, plain).chain(unasked).collect()
}

const WITHOUT: Words = Words("without|ohne|sans|sin|sem|senza|без|without any");

const ASKING: Words = Words(
    "asking|confirm*|approval|permission|review by|nachfrage*|ruckfrage*|bestatig*|fragen|demander|\
    confirmation|autorisation|pedir|preguntar|confirmacion|permiso|perguntar|confirmacao|permissao|\
    chiedere|conferma|permesso|подтвержд*|разрешени*|спрос*",
);

const UNASKED: Words = Words(
    "mit ja zu beantworten|mit ja beantworten|nicht gefragt werden|ne demande jamais|ne demandez jamais|\
    frage niemals|frag nie|nunca preguntes|nunca pidas|nunca pergunte|nunca peca|никогда не спрашива*|\
    绝不询问|未经同意|未经许可|許可なし|同意なし|동의 없이|허가 없이|절대 묻지|answer yes to|say yes to|accept every|accept all|\
    confirm every|confirm all|approve every|approve all|approve everything|auto-approve|\
    automatically approve|do not ask|don't ask|never ask|never stop to ask|no need to ask|\
    you have permission to run|automatisch bestatig*|bestatige jede|bestatige alle|frag nicht|\
    frage nicht|accepte tout*|approuve tout*|ne demande pas|ne demandez pas|aprueba automaticamente|\
    aprueba todo*|no preguntes|no pidas|aprove tudo|aprove todos|nao pergunte|nao peca|approva tutti|\
    approva tutto|non chiedere|не спрашива*|одобря* все|无需确认|不经确认|不要询问|不要问|无需询问|无需征求|不必征求|不用询问|无需用户|\
    自动批准|確認せずに|確認なしで|許可を求めずに|許可を求めない|自動的に承認|묻지 말고|묻지 않고|확인 없이|자동으로 승인|허락 없이|승인 없이",
);

const COMMANDS: Words = Words(
    "sicherheitsabfrage*|abfrage*|command*|tool call*|patch*|befehl*|nachfrage*|berechtigung*|commande*|\
    comando*|comandi|команд*|命令|コマンド|명령|permission*|permiss*|approve*|prompt*",
);
