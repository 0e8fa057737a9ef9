;; What a user of Emacs does in a Tiltfile. Each line that is printed is what the editor shows.  -*- lexical-binding: t -*-
(require 'package)
(package-initialize)
(unless (require 'eglot nil t)
  (princ "Eglot is not installed\n")
  (kill-emacs 0))

(defun show (what text)
  (princ (format "%s: %s\n" what (replace-regexp-in-string "[ \n\t]+" " " text))))

(defun until-there (what ready)
  "Call READY until it returns a text, and print that."
  (let ((tries 0) text)
    (while (not (setq text (funcall ready)))
      (when (= (setq tries (1+ tries)) 600)
        (show (concat "no " what) (format "%S" (flymake-diagnostics)))
        (kill-emacs 1))
      (accept-process-output nil 0.05))
    (show what text)))

(defun diagnostic (part)
  (lambda ()
    (flymake-start)
    (seq-some (lambda (d)
                (and (string-match-p (regexp-quote part) (flymake-diagnostic-text d))
                     (format "line %d, %s" (line-number-at-pos (flymake-diagnostic-beg d)) (flymake-diagnostic-text d))))
              (flymake-diagnostics))))

;; Typing is a command: the server learns of it after it.
(defun type (text)
  (insert text)
  (run-hooks 'post-command-hook)
  (eglot--signal-textDocument/didChange))

(find-file "Tiltfile")
(run-hooks 'post-command-hook)          ; there is no command loop here, and eglot-ensure waits for it
(show "mode" (symbol-name major-mode))
(until-there "diagnostic" (diagnostic "lokal_resource"))

(font-lock-ensure)
(goto-char (point-min))
(search-forward "lint")
(show "color of a string" (format "%s" (get-text-property (1- (point)) 'face)))

(goto-char (+ (point-min) 2))
(let (shown)
  (eglot-hover-eldoc-function (lambda (text &rest _) (setq shown text)))
  (until-there "hover" (lambda () shown)))

(goto-char (point-max))
(type "docker_b")
(let ((found (eglot-completion-at-point)))
  (show "completion" (mapconcat #'substring-no-properties (all-completions "docker_b" (nth 2 found)) " ")))

(delete-region (line-beginning-position) (point))
(type "k8s_yaml(")
(until-there "diagnostic" (diagnostic "never closed"))
(set-buffer-modified-p nil)
(kill-emacs 0)
