//! Checks turned off: certificates, hosts and signatures, and the hooks of a commit.
//!
//! Settings are known by name, and in ten languages by a verb that turns off and the check that it names.

use super::super::action::{Action, each, pairs};
use super::super::words::{Plain, Words};
use crate::text::clip;
use std::ops::Range;

pub(super) fn skipped_verification(plain: Plain<'_>) -> Vec<Action> {
    const SETTINGS: Words = Words(
        "node_tls_reject_unauthorized|sslverify false|sslverify = false|sslverify=false|sslverify 0|\
        sslverify=0|git_ssl_no_verify|verify=false|verify = false|rejectunauthorized: false|\
        rejectunauthorized:false|rejectunauthorized=false|insecureskipverify|danger_accept_invalid_certs|\
        --no-check-certificate|--trusted-host|strict-ssl false|strict-ssl=false|--insecure|cert_none|\
        check_hostname = false|check_hostname=false|stricthostkeychecking=no|stricthostkeychecking no|\
        --no-gpg-check|--nogpgcheck|--allow-unauthenticated|trustallcerts|pythonhttpsverify=0|\
        skip-tls-verify|--insecure-skip-tls-verify|gosumdb=off|--ignore-certificate-errors|\
        _create_unverified_context|--no-verify-ssl|--disable-ssl-verification",
    );
    let mut found: Vec<Action> = each(SETTINGS, plain).collect();
    found.extend(CHECK_SETTINGS.find_in(plain).filter_map(|at| {
        let value = plain[at.end..].trim_start_matches([' ', ':', '=', '"', '\'']);
        let end = at.end + clip(&plain[at.end..], 8).len();
        Words("false|0|no|off|none|never")
            .find_in(clip(value, 6))
            .any(|found| found.start == 0)
            .then(|| Action::at(at.start..end))
    }));
    found.extend(Words("curl").find_in(plain).filter_map(|at| insecure_option(plain.text, at)));
    found.extend(pairs(plain, OFF, CHECKS, 60));
    found
        .extend(pairs(plain, UNCHECKED, CERTIFICATES, 40).into_iter().map(|action| Action::at(action.range)));
    found
}

/// Settings that must not be turned off.
const CHECK_SETTINGS: Words = Words(
    "verify_ssl|ssl_verify|verifyssl|verify-ssl|ssl-verify|verify_tls|tls_verify|verify_certs|\
    verify_cert|verify_certificates|ssl_verification|check_certificate|validate_certs|verify_peer|\
    verifypeer|ssl_verifypeer|ssl_verifyhost|verify_host|rejectunauthorized|strictssl|strict_ssl|\
    sslmode_verify|tls_reject_unauthorized",
);

/// `curl -k`, `curl -sk`
fn insecure_option(plain: &str, curl: Range<usize>) -> Option<Action> {
    let mut end = curl.end;
    for word in clip(&plain[curl.end..], 120).split(' ').take(8) {
        end += word.len() + 1;
        let is_option = word.strip_prefix('-').is_some_and(|letters| {
            letters.contains('k') && letters.len() <= 6 && letters.bytes().all(|b| b.is_ascii_alphabetic())
        });
        if is_option {
            return Some(Action::at(curl.start..(end - 1).min(plain.len())));
        }
        if word.ends_with([',', '`', '.', ';', '|']) {
            break;
        }
    }
    None
}

const OFF: Words = Words(
    "ignores|turn off|turns off|turning off|turn the|switch off|switch the|disable|disables|disabling|\
    skip|skips|bypass|bypasses|ignore|omit|uninstall|deactivate|schalte|abschalt*|ausschalt*|\
    deaktivier*|umgeh*|uberspring*|desactiv*|contourn*|ignorez|coupe*|saute|sauter|sautez|omite*|omitir|\
    salta*|pule|pular|desativ*|deslig*|disabilit*|disattiv*|salta|saltare|отключ*|выключ*|игнорир*|\
    обойд*|пропуск*|关闭|关掉|禁用|跳过|绕过|停用|無効|オフに|スキップ|切って|비활성|끄|해제|건너뛰|우회",
);

const UNCHECKED: Words = Words(
    "without checking|without verifying|without validating|ohne prufung|ohne uberprufung|sans verifier|\
    sin verificar|sin comprobar|sem verificar|senza verificare|senza controllare|без проверки|不校验|不验证|\
    検証せずに|検証なし|검증 없이|검증하지 않고",
);

const CERTIFICATES: Words = Words(
    "certificate*|certs|zertifikat*|certificat*|certificad*|сертификат*|证书|証明書|인증서|signature*|签名|署名|서명",
);

const CHECKS: Words = Words(
    "controllo dei certificati|controle des certificats|control de certificados|controle de certificados|\
    prufung der zertifikate|uberprufung der zertifikate|certificate error*|certificate warning*|\
    zertifikatsfehler*|erreurs de certificat|errores de certificado|erros de certificado|\
    errori di certificato|ошибк* сертификат*|证书错误|証明書エラー|인증서 오류|verifica ssl|verificacion ssl|\
    verificacao ssl|certificate verification|certificate check*|certificate validation|tls verification|\
    ssl verification|tls check*|ssl check*|signature verification|signature check*|\
    checksum verification|host key check*|zertifikatspruf*|signaturpruf*|tls-pruf*|ssl-pruf*|\
    verification des certificats|verification du certificat|verification tls|verification ssl|\
    verification des signatures|verificacion del certificado|verificacion de certificados|\
    verificacion de los certificados|verificacion tls|verificacao de certificados|\
    verificacao do certificado|verificacao dos certificados|verificacao tls|verifica dei certificati|\
    verifica del certificato|verifica tls|проверк* сертификат*|проверку сертификат*|\
    проверки сертификат*|проверка сертификат*|проверку ssl|проверку tls|проверку подпис*|证书验证|证书校验|证书检查|\
    签名验证|签名校验|証明書の検証|証明書検証|署名の検証|tls の検証|tlsの検証|ssl の検証|sslの検証|tls 校验|tls校验|tls 验证|tls验证|ssl 校验|ssl验证|\
    tls 검증|ssl 검증|인증서 검증|인증서 확인|서명 검증",
);

pub(super) fn skipped_hooks(plain: Plain<'_>) -> Vec<Action> {
    const OPTIONS: Words = Words(
        "--no-verify|git commit -n|commit -nm|commit -an|commit -anm|husky=0|husky_skip_hooks|\
        core.hookspath=/dev/null|core.hookspath /dev/null|pre-commit uninstall|--skip-hooks|skip=all",
    );
    const HOOKS: Words = Words(
        "pre-commit|pre-push hook*|git hook*|commit hook*|the hooks|git-hook*|les hooks|los hooks|os hooks|\
        gli hook|die hooks|хуки|钩子|フック|훅",
    );
    let skipped = pairs(plain, OFF, HOOKS, 40);
    let optioned = pairs(plain, Words("-n"), Words("git commit"), 40);
    each(OPTIONS, plain).chain(skipped).chain(optioned).collect()
}
